"""The commands that README and docs show: lines of code blocks, and what stands between backticks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "examples" / "README.md"])
PAGES.remove(ROOT / "CHANGELOG.md")
PROGRAMS = ("fedsieve", "make", "pip", "python", "uvx", "docker", "grep", "export", "for", "flwr", "conda")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command, its words, and the page that shows it."""

    page: str
    line: str

    @property
    def words(self) -> list[str]:
        """Up to a pipe: what reads the output is another program."""
        words = shlex.split(self.line, comments=True)
        return words[: words.index("|")] if "|" in words else words

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def blocks(text: str) -> Iterator[list[str]]:
    """Indented blocks, of list items too, and fenced ones in a shell's language."""
    for language, code in FENCE.findall(text):
        if language in ("bash", "sh", "shell", "console"):
            yield code.splitlines()
    block: list[str] = []
    for line in [*FENCE.sub("", text).splitlines(), ""]:
        if re.match(r" {4,}\S", line):
            block.append(line)
        elif block:
            yield block
            block = []


def shown(page: Path) -> Iterator[Command]:
    """The commands in the blocks of a page. Where one follows a `$`, lines without are what it prints."""
    for block in blocks(page.read_text(encoding="utf-8")):
        text = "\n".join(line.strip() for line in block).replace("\\\n", " ")
        lines = [re.sub(r"\s+", " ", line) if "\\n" not in line else line for line in text.splitlines()]
        if any(line.startswith("$ ") for line in lines):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        elif not re.match(rf"(\w+=\S+ )?({'|'.join(PROGRAMS)})\b", lines[0]):
            continue
        for line in lines:
            yield Command(page.relative_to(ROOT).as_posix(), line)


def mentioned(page: Path) -> Iterator[Command]:
    """`fedsieve ...` between backticks, which may be a part of a command."""
    text = re.sub(r"\s+", " ", FENCE.sub("", page.read_text(encoding="utf-8")))
    for line in re.findall(r"`(fedsieve [a-z][^`]*)`", text):
        yield Command(page.relative_to(ROOT).as_posix(), line)


def files_of(page: Path) -> dict[str, str]:
    """Programs that a page asks its reader to save: blocks of Python whose first line is the file's name."""
    found = FENCE.findall(page.read_text(encoding="utf-8")) if page.suffix == ".md" else []
    named = ((re.match(r"# (\w+\.py)\n", code), code) for language, code in found if language == "python")
    return {name[1]: code for name, code in named if name}

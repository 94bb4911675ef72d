"""What the docs name exists: messages, links, files, modules, and names in the code."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from fedsieve.report.message_table import page

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PRESENT = [path for path in PAGES if path.parent.name != "decisions" and path.name != "CHANGELOG.md"]  # not of the past
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
ROOMS = ("src", "benchmarks", "tests", "tools", "docs", "examples")
OF_OTHERS = {"client_max_body_size"}  # nginx


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_page_of_messages_is_that_of_the_registry():
    again = "python -m fedsieve.report.message_table > docs/messages.md"
    assert (ROOT / "docs" / "messages.md").read_text(encoding="utf-8") == page(), f"write it again: {again}"


def headings(path: Path) -> set[str]:
    """As GitHub makes anchors of them."""
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", path.read_text(encoding="utf-8")).replace("\n", " ")):
        if not target.startswith("http"):
            file, _, heading = target.partition("#")
            found = path.parent / file if file else path
            assert found.exists(), target
            assert not heading or heading in headings(found), target


@cache
def sources() -> list[str]:
    return [f"/{path.relative_to(ROOT).as_posix()}" for room in ROOMS for path in files(room)]


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("path", PRESENT, ids=named)
def test_source_files_that_a_page_names_exist(path):
    for file in re.findall(r"[\w/<>]+\.py\b", path.read_text(encoding="utf-8")):
        if "<" not in file:
            assert any(source.endswith(f"/{file.lstrip('/')}") for source in sources()), file


@pytest.mark.parametrize("path", PRESENT, ids=named)
def test_modules_that_a_page_names_can_be_imported(path):
    for name in set(re.findall(r"\bfedsieve(?:\.[A-Za-z_]\w*)+(?!\.?\w|-)", path.read_text(encoding="utf-8"))):
        if not name.endswith(".log"):
            assert resolved(name), name


def resolved(name: str) -> bool:
    """Whether it is a module, or an attribute of one."""
    module, _, attribute = name.rpartition(".")
    try:
        import_module(name)
    except ModuleNotFoundError:
        return bool(module) and hasattr(import_module(module), attribute)
    return True


@cache
def words() -> set[str]:
    """All words of the code and of the experiments' configurations."""
    places = [path for room in ROOMS for path in files(room)]
    places += (ROOT / "benchmarks").rglob("*.toml")
    text = "\n".join(path.read_text(encoding="utf-8") for path in places if path.name != Path(__file__).name)
    return set(re.findall(r"\w+", text)) | {path.stem for path in places} | OF_OTHERS


@pytest.mark.parametrize("path", PRESENT, ids=named)
def test_names_in_the_code_that_a_page_mentions_are_there(path):
    """`likeThis`, `LikeThis` and `like_this`; what an example of the page itself defines may be new."""
    text = path.read_text(encoding="utf-8")
    own = set(re.findall(r"\w+", "\n".join(FENCED.findall(text))))
    inline = " ".join(re.findall(r"`([^`\n]+)`", FENCED.sub("", text)))
    mentioned = set(re.findall(r"\b(?:[A-Za-z]+_\w*|[A-Z]\w*[a-z]\w*[A-Z]\w*)", inline))
    assert not mentioned - words() - own

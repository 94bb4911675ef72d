"""Every command that README and docs show fits the real command line; Python in them is run as doctests."""

import os
import re
import shlex
import sys
import tomllib
from pathlib import Path

import click
import pandas as pd
import pytest
import yaml

from documented_commands import FENCE, PAGES, ROOT, Command, files_of, mentioned, shown
from fedsieve import datasets
from fedsieve.cli.app import every_command

TYPED = dict(every_command())
OTHERS = {
    "docker": "needs a container engine; tests/test_deploy_files.py holds compose.yaml against the command line",
    "conda": "needs conda; tests/test_deploy_files.py holds the recipe against pyproject.toml",
    "uvx": "make test-wheel runs it",
    "for": "asks a proxy on another machine",
    "curl": "inside it",
    "done": "its end",
    "export": "sets a variable",
    "flwr": "the engine's own command; tests/federation/slow/test_simulation.py runs simulations",
    "grep": "on files that the commands before it write",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
SHOWN = [command for page in PAGES for command in shown(page)]
MENTIONED = [command for page in PAGES for command in mentioned(page)]


def resolved(words: list[str]) -> tuple[str, click.Command, list[str]]:
    """The command that is typed, as far as its words go, and the words after it."""
    path, rest = words[0], words[1:]
    while rest and f"{path} {rest[0]}" in TYPED:
        path, rest = f"{path} {rest[0]}", rest[1:]
    return path, TYPED[path], rest


def complaint(words: list[str], *, whole: bool) -> str | None:
    """What the command line has against these words; of a part of a command only unknown options count."""
    path, command, rest = resolved(words)
    if isinstance(command, click.Group) and any(not word.startswith("-") for word in rest):
        return f"{path} has no command {rest[0]}"
    if not whole:
        known = {name for p in command.get_params(click.Context(command)) for name in (*p.opts, *p.secondary_opts)}
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        return f"{path} has no {sorted(options - known)}" if options - known else None
    try:
        context = click.Context(command, info_name=path)
        _, left, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return error.format_message()
    return f"{path} takes no {left}" if left else None


def test_there_are_commands_to_look_at():
    assert len(SHOWN) > 100
    assert len(MENTIONED) > 50
    assert {command.words[0] for command in SHOWN} >= {"fedsieve", "make", "pip", "python"}


@pytest.mark.parametrize("page", sorted({command.page for command in SHOWN}))
def test_commands_in_blocks_fit_the_command_line(page):
    for command in (command for command in SHOWN if command.page == page):
        assert why_not(command) is None, command


def why_not(command: Command) -> str | None:
    line = re.sub(r"^([A-Z]+=(\$\(.*?\)(?=$|[ :])|[^ $])+( |$))+", "", command.line)  # variables
    words = Command(command.page, line or "export").words
    program = words[0]
    if program == "fedsieve":
        return complaint(words, whole=True)
    if "fedsieve" in words:  # of a container or by uvx: its own words too
        inner = complaint(words[words.index("fedsieve") :], whole=True)
        if inner:
            return inner
    if program == "make":
        return None if set(words[1:]) <= TARGETS else f"no target of {words[1:]}"
    if program == "pip":
        extras = {extra for word in words for found in re.findall(r"\[([\w,]+)\]", word) for extra in found.split(",")}
        return None if extras <= PROJECT["optional-dependencies"].keys() else f"no extras {extras}"
    if program == "python":
        parts = words[2].split(".") if words[1] == "-m" else []
        place = ROOT.joinpath("src" if parts[:1] == ["fedsieve"] else "", *parts)
        return None if parts and (place.is_dir() or place.with_suffix(".py").is_file()) else f"no module of {words}"
    return None if program in OTHERS else f"{program!r} is no program that is known here"


@pytest.mark.parametrize("page", sorted({command.page for command in MENTIONED}))
def test_commands_in_sentences_fit_the_command_line(page):
    for command in (command for command in MENTIONED if command.page == page):
        words = shlex.split(command.line.replace("...", ""))
        if words[1] != "COMMAND" and "COMMAND" not in words:
            assert complaint(words, whole=False) is None, command


def test_the_checks_would_notice():
    assert "such option" in str(complaint(["fedsieve", "select", "--labelled", "x"], whole=True)).lower()
    assert complaint(["fedsieve", "select", "stray"], whole=True) == "fedsieve select takes no ['stray']"
    assert complaint(["fedsieve", "federation", "found"], whole=True) == "fedsieve federation has no command found"
    assert complaint(["fedsieve", "federation", "init", "--secured"], whole=False)
    assert why_not(Command("x", "make coffee"))
    assert why_not(Command("x", 'pip install "fedsieve[everything]"'))
    assert why_not(Command("x", "python -m benchmarks.nothing"))


def unprompted(page: Path) -> list[str]:
    """Blocks of Python without a prompt: pytest's doctests pass them over."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    plain = [code for language, code in found if language in ("python", "pycon") and not code.startswith(">>>")]
    return [code for code in plain if code not in files_of(page).values()]


def test_python_on_a_page_is_run():
    """By pytest where it follows a prompt, and before that, files that the page names; other code is run below."""
    assert [page.name for page in PAGES if unprompted(page)] == ["datasets.md"]


def test_reading_files_as_the_page_of_datasets_does(tmp_path, monkeypatch):
    loading, reading = unprompted(ROOT / "docs" / "datasets.md")
    monkeypatch.chdir(tmp_path)
    head = "@relation r\n@attribute {} string\n@attribute age numeric\n@attribute ill {{0,1}}\n@data\n"
    labels = "<labels><label name='ill'/></labels>"
    for name, text in (("patients", head.replace("@attribute {} string\n", "")), ("genbase", head)):
        cells = "x," if name == "genbase" else ""
        rows = "".join(f"{cells}{age},{age % 2}\n" for age in range(20, 30))
        Path(f"{name}.arff").write_text(text.format("protein") + rows, encoding="utf-8")
        Path(f"{name}.xml").write_text(labels, encoding="utf-8")
    table = pd.DataFrame({"id": range(9), "age": range(30, 39), "ill": [0, 1, 0] * 3, "old": [1, 0, 0] * 3})
    table.drop(columns="id").to_csv("patients.csv", index=False)
    table.rename(columns={"ill": "label_ill", "old": "label_old"}).to_parquet("patients.parquet")
    exec(reading, {"datasets": datasets})
    if os.environ.get("FEDSIEVE_DATA"):
        exec(loading, {})


def test_configuration_on_a_page_is_read():
    for page in PAGES:
        for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
            if language == "toml":
                tomllib.loads(code)
            if language == "yaml":
                assert isinstance(yaml.safe_load(code), dict), page.name


def test_what_a_page_s_files_import_is_installed_by_the_page():
    brought = {re.match(r"[\w-]+", one)[0].replace("scikit-learn", "sklearn") for one in PROJECT["dependencies"]}
    files = {page: code for page in PAGES for code in files_of(page).values()}
    assert [page.name for page in files] == ["tutorial.md"]
    for page, code in files.items():
        installed = {word for command in shown(page) if command.words[0] == "pip" for word in command.words[2:]}
        imported = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))
        assert imported - brought - installed - sys.stdlib_module_names == set()

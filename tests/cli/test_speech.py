"""How commands speak: `--json`, `--quiet` and `--verbose` are the same everywhere, and exit codes are as documented."""

import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import pytest
from typer.main import get_command

from fedsieve.cli import console
from fedsieve.cli.app import Commands, app
from fedsieve.cli.federation import FederationCommands
from fedsieve.cli.speech import speaking

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
PRINTS_A_TABLE = re.compile(r"\bout\.print\(|_table\(")


def test_a_command_that_prints_a_table_prints_a_document_too():
    silent, n_seen = [], 0
    for group in (Commands, FederationCommands):
        for name in group.summaries:
            own = name.replace("-", "_") + "_" * iskeyword(name)
            file = import_module(f"{group.package}.{own}")
            commands = [getattr(file, own)] if hasattr(file, own) else [one.callback for one in _own(file)]
            for command in commands:
                prints = PRINTS_A_TABLE.search(inspect.getsource(file if len(commands) == 1 else command))
                n_seen += prints is not None
                if prints and "as_json" not in inspect.signature(command).parameters:
                    silent.append(f"{name}: {command.__name__}")
    assert silent == []
    assert n_seen > 15


def _own(file):
    """The commands of a group that has them in its own file."""
    return getattr(file.app, "registered_commands", ())


@pytest.mark.parametrize("words", [("compare",), ("federation", "status"), ("datasets", "info"), ("report",)])
def test_every_command_has_the_same_two_options(fedsieve, words):
    told = " ".join(fedsieve(*words, "--help").out.split())
    for option in ("--quiet", "--verbose"):
        assert option in told


def test_they_are_added_once():
    command = get_command(app)
    speaking(speaking(command))
    for one in command.commands.values():
        names = [parameter.name for parameter in one.params]
        assert len(names) == len(set(names))


@pytest.fixture
def compared(fedsieve, tables):
    for out in ("one", "two"):
        assert fedsieve(*tables.select(out=out)).code == 0
    return [tables["one"], tables["two"]]


def test_json_is_one_document_and_nothing_else(fedsieve, tables):
    found = fedsieve(*tables.select("--json"))
    document = json.loads(found.out)
    kept = json.loads((tables["result"] / "selection.json").read_text(encoding="utf-8"))
    assert (found.code, document["out"]) == (0, str(tables["result"]))
    assert {key: document[key] for key in kept} == kept
    assert "--json" not in kept["command"]  # how it is told is no part of how it was made
    listed = json.loads(fedsieve("datasets", "list", "--json").out)
    assert [one["name"] for one in listed] == [line.split("│")[1].strip() for line in _rows(fedsieve)]


def _rows(fedsieve):
    return [line for line in fedsieve("datasets", "list").out.splitlines() if line.startswith("│")]


def test_quiet_prints_nothing_and_loud_follows(fedsieve, compared):
    found = fedsieve("compare", *compared, "--quiet")
    assert (found.code, found.out, found.err) == (0, "", "")
    assert not console.out.quiet
    assert "both select" in fedsieve("compare", *compared).out


def test_quiet_keeps_errors_warnings_and_documents(fedsieve, compared, tables):
    found = fedsieve("compare", tables["none"], compared[0], "-q")
    assert (found.code, found.out) == (2, "")
    assert "cannot be read" in found.message
    assert not console.out.quiet
    assert json.loads(fedsieve("compare", *compared, "-q", "--json").out)["overlap"] == 2


def test_verbose_tells_versions_time_and_where_an_error_arose(fedsieve, compared):
    found = fedsieve("compare", *compared, "--verbose", "--json")
    json.loads(found.out)
    assert re.search(r"^fedsieve \S+, Python 3\.", found.err)
    assert re.search(r"^\d+\.\d s, at most \d+ MB of memory\.$", found.err, flags=re.MULTILINE)


def test_verbose_shows_the_way_to_an_error():
    code = "import sys; sys.argv = ['fedsieve', 'compare', 'none', 'none', '-v']; from fedsieve.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.returncode == 2
    assert "Error: none: cannot be read" in found.stderr
    assert "Traceback" in found.stderr
    assert "read_selection" in found.stderr


def test_exit_codes_are_as_the_page_says(fedsieve, tables, compared):
    told = dict(re.findall(r"^\| (\d+) \| (.*?) \|", PAGE, flags=re.MULTILINE))
    assert list(told) == ["0", "1", "2", "130"]
    ends = {
        0: [("compare", *compared), ("--help",), ("compare", "--help")],
        1: [("check", tables["siteA.csv"], tables["server.csv"])],
        2: [("compare", compared[0], tables["none"]), ("compare",), ("compare", "--no-such"), ("nothing",)],
    }
    for code, calls in ends.items():
        assert [fedsieve(*call).code for call in calls] == [code] * len(calls), code


def test_an_interrupted_command_says_so(fedsieve, compared, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("fedsieve.cli.compare.compare_selections", interrupted)
    found = fedsieve("compare", *compared, "--json")
    assert (found.code, found.out, found.err) == (130, "", "Interrupted.\n")


def test_what_is_asked_is_refused_where_nothing_is_shown(fedsieve, tmp_path):
    (tmp_path / "site.json").write_text('{"name": "siteA"}')
    (tmp_path / "results" / "20260101-000000-abc").mkdir(parents=True)
    for how in ("--quiet", "--json"):
        found = fedsieve("federation", "purge", tmp_path, "--all", how)
        assert found.code == 2
        assert "nobody is there to ask" in found.message
    document = json.loads(fedsieve("federation", "purge", tmp_path, "--all", "--yes", "--json").out)
    assert [one["run"] for one in document["deleted"]] == ["20260101-000000-abc"]


@pytest.mark.parametrize(("typed", "found"), [("fedsieve comp", ["compare"]), ("fedsieve federation stat", ["status"])])
def test_the_shell_completes_commands(typed, found):
    words = typed.split()
    asked = {"_FEDSIEVE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    command = Path(sys.executable).parent / "fedsieve"
    told = subprocess.run([command], env={**os.environ, **asked}, capture_output=True, text=True, timeout=120)
    assert told.stdout.split() == found

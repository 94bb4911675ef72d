"""`fedsieve federation try` up to its first process; what real processes do with it is tried in tests/federation."""

import re
from types import SimpleNamespace

import pytest

from fedsieve.cli.federation import try_ as command
from fedsieve.errors import ProtocolError


@pytest.fixture
def started(monkeypatch):
    """What would be carried out, command by command; none is."""
    commands = []
    monkeypatch.setattr(command.subprocess, "call", lambda words: commands.append(words[5:]) or 0)

    class Ready(command.Background):
        def __init__(self, verb, *arguments, log):
            log.write_text("Serving; is connected to")
            self.verb, self.log = verb, log
            commands.append(command._command(verb, *arguments)[5:])

        def end(self):
            commands.append(["end", self.verb])

    monkeypatch.setattr(command, "Background", Ready)
    return commands


def test_the_commands_are_those_of_a_consortium_and_all_are_ended(fedsieve, started, tmp_path):
    kept = tmp_path / "kept"
    result = fedsieve("federation", "try", "--out", tmp_path / "result", "-k", 9, "--keep", kept)
    assert result.code == 0, result.out + result.err
    verbs = [words[1] if words[0] == "federation" else f"end {words[1]}" for words in started]
    ends = ["end join"] * 3 + ["end serve"]
    assert verbs == ["init", *["unpack"] * 3, "serve", *["join"] * 3, "run", *ends]
    init = started[0]
    assert {"--secure", "--with-keys", "siteA,siteB,siteC", "prefix:label_"} <= set(init)
    assert init[init.index("-k") + 1] == "9"
    assert len((kept / "rows-1.csv").read_text().splitlines()) > 200
    assert "$ fedsieve federation serve" in (result.out + result.err)


def test_a_command_that_fails_ends_the_trial_and_leaves_nothing(fedsieve, started, tmp_path, monkeypatch):
    monkeypatch.setattr(command.subprocess, "call", lambda words: 2 if words[6] == "run" else 0)
    result = fedsieve("federation", "try", "--out", tmp_path / "result")
    assert result.code == 2
    assert "'fedsieve federation run' ended with exit code 2; see above." in (result.out + result.err)
    assert started[-1] == ["end", "serve"]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sites", "2"), "--sites must be from 3 to 20; got 2"),
        (
            ("--labeled", "server.csv"),
            "needs --labels, and --data once for each of 3 to 20 sites; got --data 0",
        ),
        (("--keep", "."), "exists already; choose another folder for --keep"),
    ],
)
def test_what_cannot_be_tried_is_said_first(fedsieve, started, options, words):
    result = fedsieve("federation", "try", *options)
    assert result.code == 2
    assert words in re.sub(r"\s+", " ", (result.out + result.err))
    assert not started


def test_what_is_said_of_columns_reaches_init_and_force_reaches_run(fedsieve, started, tmp_path):
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "selection.json").write_text("{}")
    call = ("federation", "try", "--out", tmp_path / "result")
    assert "or give --force to replace it" in fedsieve(*call).message
    result = fedsieve(*call, "--force", "--drop", "a,b", "--dates", "seen", "--keep-columns", "device_id")
    assert result.code == 0, result.err
    init, run = (next(words for words in started if words[1] == verb) for verb in ("init", "run"))
    for option, value in (("--drop", "a,b"), ("--dates", "seen"), ("--keep", "device_id")):
        assert init[init.index(option) + 1] == value
    assert "--force" in run


def test_what_a_command_said_that_is_not_ready_is_shown_line_by_line(tmp_path, capsys):
    log = tmp_path / "server.txt"
    failing = object.__new__(command.Background)
    failing.verb, failing.log, failing.process = "serve", log, SimpleNamespace(poll=lambda: 2)
    log.write_text("Warning: [first]\nError: port 7 is taken.\x1b[2J\n")
    with pytest.raises(ProtocolError) as refused:
        failing.wait_for("Serving")
    assert str(refused.value) == "'fedsieve federation serve' is not ready; what it said is above."
    assert capsys.readouterr().out == "Warning: [first]\nError: port 7 is taken.\\x1b[2J\n"

"""Which interpreters `make test-wheel` tries the wheel on: those that are found, and those that uv can install."""

import os
import sys

import pytest
from tools import wheel

MISSING = "3.99"


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """A program in uv's place that does what it is told."""
    program = tmp_path / "uv"

    def does(script: str) -> None:
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        os.chmod(program, 0o755)

    monkeypatch.setattr(wheel, "UV", program)
    monkeypatch.setattr(wheel, "VERSIONS", (MISSING,))
    return does


def test_an_interpreter_that_is_missing_is_installed(uv):
    uv(f'[ "$2" = install ] || echo {sys.executable}')
    assert list(wheel.interpreters()) == [(MISSING, sys.executable)]


@pytest.mark.parametrize(
    ("script", "why"),
    [("echo no such download >&2; exit 2", "no such download"), ("sleep 5", "timed out after 0.2 seconds")],
)
def test_one_that_cannot_be_had_is_told_in_one_line(uv, capsys, monkeypatch, script, why):
    uv(script)
    monkeypatch.setattr(wheel, "INSTALL_SECONDS", 0.2 if "sleep" in script else 60)
    assert list(wheel.interpreters()) == []
    said = capsys.readouterr().out
    assert said.startswith(f"Python {MISSING}: not found, and uv could not install it (")
    assert why in said
    assert said.count("\n") == 1

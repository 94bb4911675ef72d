"""Benchmarks compare what they find with the figures that git has, and say what got worse."""

import json
import subprocess

import pytest
from benchmarks.committed import Comparison
from benchmarks.row import NOISE, Row


def row(what: str, value: float, better: str = "less", target: float | None = None) -> Row:
    return Row(what, value, "s", better, target)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Of a repository in which it is committed with these figures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    file = tmp_path / "topic.json"
    committed = [row("slow", 10.0), row("fast", 10.0, "more"), row("dropped", 1.0)]
    file.write_text(json.dumps([figure.as_dict() for figure in committed]))
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "--quiet"], ["add", "topic.json"], ["commit", "--quiet", "--message", "figures"]):
        subprocess.run([*git, *command], check=True)
    return file


def said(capsys, file, *rows: Row) -> str:
    comparison = Comparison()
    comparison.add("topic", list(rows), file)
    capsys.readouterr()
    comparison.conclude()
    return capsys.readouterr().out


def test_what_got_worse_beyond_noise_is_named_whichever_way_is_better(file, capsys):
    rows = row("slow", 10.1 * NOISE), row("fast", 9.9 / NOISE, "more"), row("dropped", 0.1)
    assert said(capsys, file, *rows) == "Worse than committed, beyond noise:\ntopic: slow\ntopic: fast\n"


def test_noise_new_figures_and_better_ones_are_not_worse(file, capsys):
    rows = row("slow", 9.9 * NOISE), row("fast", 99.0, "more"), row("dropped", 0.1), row("new", 1e9)
    assert said(capsys, file, *rows).strip() == "Nothing is worse than committed, beyond noise."


def test_a_figure_that_is_gone_is_named(file, capsys):
    assert "Committed, and not measured now:\ntopic: dropped" in said(capsys, file, row("slow", 1.0), row("fast", 11.0))


def test_a_second_run_is_compared_with_git_not_with_the_first(file, capsys):
    for _ in range(2):
        assert "topic: slow" in said(capsys, file, row("slow", 20.0))
    assert json.loads(file.read_text()) == [row("slow", 20.0).as_dict()]


def test_without_git_the_file_is_compared_with_and_without_both_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    file = tmp_path / "topic.json"
    assert "Nothing is worse" in said(capsys, file, row("slow", 10.0))
    assert "topic: slow" in said(capsys, file, row("slow", 20.0))


def test_a_missed_target_is_shown(file, capsys):
    Comparison().add("topic", [row("slow", 10.0, target=9.0), row("fast", 10.0, "more", target=9.0)], file)
    shown = capsys.readouterr().out
    assert "<= 9 MISSED" in shown
    assert ">= 9 met" in shown

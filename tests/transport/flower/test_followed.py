"""`fedsieve federation status` after a run: who is done with what follows it, who is not, and why."""

import pytest

from fedsieve.cli import console
from fedsieve.cli.federation.status import status
from fedsieve.deployment.runs import latest_after, what_follows
from transport.flower.consortium import raises, sabotage
from transport.flower.following import QUICK, approve, collect, label


@pytest.fixture
def shown(after, capsys, monkeypatch):
    """The table that `status` shows, by site."""
    monkeypatch.setattr(console.out, "_width", 2000)

    def show():
        capsys.readouterr()
        status(after.folder.path)
        lines = [line for line in capsys.readouterr().out.split("After run ")[-1].splitlines() if "│" in line]
        return {cells[1]: tuple(cells[2:4]) for cells in ([cell.strip() for cell in line.split("│")] for line in lines)}

    return show


def test_before_anything_was_asked_all_is_open(after, shown):
    assert shown() == dict.fromkeys(after.nodes, ("open", "open"))


def test_rows_are_done_refused_or_came_in_part(after, shown, monkeypatch):
    monkeypatch.setattr("fedsieve.methods.collecting.CHUNK_BYTES", 5 * 3 * 8)
    honest = dict(after.nodes)
    approve(after, "site-0", "site-1")
    sabotage(after, "site-1", "AskRowsChunk", raises, kind_of="query.after", nth=2)
    place = collect(after)
    found = {name: rows for name, (rows, _) in shown().items()}
    n_rows = after.site("site-0").n_rows
    assert found["site-0"] == f"done: {n_rows} rows in {place / 'site-0.parquet'}"
    assert found["site-1"].startswith("no rows: its process failed")
    assert found["site-2"].startswith("no rows: nobody consented that rows of run")
    what_follows(after.folder, after.run, "collect", ["site-1"])  # begun, and killed
    found = {name: rows for name, (rows, _) in shown().items()}
    assert found["site-0"].startswith("done")  # and not of this attempt
    assert (found["site-1"], found["site-2"]) == ("some rows came; 'collect' goes on with it", "open")
    after.nodes.update(honest)
    collect(after)
    assert shown()["site-1"][0].startswith("done")


def test_rows_whose_command_was_killed_before_the_file_was_made(after, shown):
    approve(after, "site-0")
    this = what_follows(after.folder, after.run, "collect", ["site-0"])
    after.lead(this)
    assert shown()["site-0"][0] == f"{after.site('site-0').n_rows} rows came; 'collect' makes the file of them"
    with this.lead():
        (this.path / "found.json").unlink()
        assert shown()["site-0"][0] == "goes on"
        assert shown()["site-1"][0] == "open"


def test_scores_are_done_or_not_and_the_last_model_counts(after, shown, capsys):
    (after.folder.site("site-2").path / "policy.toml").write_text("min_rows = 'many'", encoding="utf-8")
    label(after)
    found = {name: scores for name, (_, scores) in shown().items()}
    assert found["site-0"] == found["site-1"] == "done"
    assert found["site-2"].startswith("no scores: ")
    this = latest_after(after.folder, after.run, "label")
    this.fail("nobody was there")
    capsys.readouterr()
    status(after.folder.path)
    assert f"'label' after run {after.run.id} failed: nobody was there" in " ".join(capsys.readouterr().out.split())


def test_where_nothing_may_follow_nothing_is_shown(after, capsys):
    after.agree("Sieve", parameters=QUICK, ranges="robust")
    status(after.folder.path)
    assert "After run" not in capsys.readouterr().out

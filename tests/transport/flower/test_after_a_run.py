"""What `collect` does after a run, by the real apps on a grid in this process: rows of those that consent."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from fedsieve import communication_cost
from fedsieve.cli.communication import Way, rows_cost
from fedsieve.cli.console import size
from fedsieve.cli.federation import collect as collecting_command
from fedsieve.cli.federation import run as run_command
from fedsieve.cli.federation.approve_rows import approve_rows
from fedsieve.datasets.parquet_rows import UnknownCodesError, write_rows
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.retention import kept_in
from fedsieve.deployment.runs import what_follows
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import DataError, ProtocolError
from transport.flower.consortium import changed, lie, raises, sabotage
from transport.flower.following import QUICK, approve, collect, label


def test_rows_of_those_that_consent_become_one_parquet_file_each(after, capsys):
    approve(after, "site-0", "site-2")
    place = collect(after)
    selected = after.run.result()["selected"]
    assert sorted(path.name for path in place.glob("*.parquet")) == ["site-0.parquet", "site-2.parquet"]
    for name in ("site-0", "site-2"):
        frame = pd.read_parquet(place / f"{name}.parquet")
        assert list(frame.columns) == selected
        assert_array_equal(frame.to_numpy(), after.site(name).whole(selected))
        assert (place / f"{name}.parquet").stat().st_mode & 0o077 == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "no rows of site-1: nobody consented that rows of run" in said
    assert [kept for kept in kept_in(after.folder.path) if "rows" in kept.what] == []


def test_the_summary_has_the_papers_cost_of_communication(after, capsys):
    approve(after, *after.nodes)
    place = collect(after, distances="site-0=1,site-1=2,site-2=3.5", bits=16)
    record, far = after.run.result(), {"site-0": 1, "site-1": 2, "site-2": 3.5}
    n_rows = {name: len(X) for name, X in after.case.clients.items()}
    expected = communication_cost(
        n_rows, len(record["order"]), 3, distances=far, bits=16, messages=record["transcript"]
    )
    told = json.loads((place / "collected.json").read_text(encoding="utf-8"))
    assert (told["rows"], told["refused"], told["columns"]) == (n_rows, {}, record["selected"])
    assert told["communication"] == {
        "distances": far,
        "bits_per_value": 16,
        "before_bits": expected.before,
        "after_bits": expected.after,
        "selection_bits": expected.selection,
        "in_all_bits": expected.in_all,
    }
    words = f"with all {len(record['order'])} features, {size(round(expected.after / 8))} with the selected 3"
    said = " ".join(capsys.readouterr().out.split())
    assert words in said
    assert "(each site's times its distance, a value has 16 bits)" in said


def test_the_run_itself_says_and_writes_it_and_sites_are_not_told(after, capsys, tmp_path):
    run_command._show(after.run, tmp_path / "result", Way({"site-0": 1, "site-1": 2, "site-2": 3.5}))
    written = json.loads((tmp_path / "result" / "selection.json").read_text(encoding="utf-8"))
    assert written["communication"] == rows_cost(written, Way({"site-0": 1, "site-1": 2, "site-2": 3.5}))
    assert written["communication"]["distances"] == {"site-0": 1, "site-1": 2, "site-2": 3.5}
    assert "(each site's times its distance)." in " ".join(capsys.readouterr().out.split())
    results = after.folder.site("site-0").results / after.run.id / "selection.json"
    assert "communication" not in json.loads(results.read_text(encoding="utf-8"))


def test_codes_that_nobody_agreed_on_are_one_sites_trouble_and_no_others(after, monkeypatch, capsys):
    def unknown(file, *rest):
        if file.name == "site-1.parquet":
            raise UnknownCodesError("column 'f' has codes for which the agreement knows no word.")
        write_rows(file, *rest)

    approve(after, *after.nodes)
    monkeypatch.setattr(collecting_command, "write_rows", unknown)
    place = collect(after)
    assert sorted(path.name for path in place.glob("*.parquet")) == ["site-0.parquet", "site-2.parquet"]
    assert "no rows of site-1: column 'f' has codes" in " ".join(capsys.readouterr().err.split())
    assert not (after.folder.server / "after" / f"{after.run.id}.collect" / "rows").exists()


def test_a_full_disk_loses_no_rows_that_came(after, monkeypatch):
    approve(after, *after.nodes)

    def full(file, *_):
        raise DataError(f"{file}: cannot be written: No space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(collecting_command, "write_rows", full)
        with pytest.raises(DataError, match="No space left"):
            collect(after)
    monkeypatch.setattr(collecting_command, "wait_for_sites", lambda *_: ([], []))  # nobody is there to be asked again
    place = collect(after)
    for name in after.nodes:
        assert_array_equal(
            pd.read_parquet(place / f"{name}.parquet"), after.site(name).whole(after.run.result()["selected"])
        )
    assert not (after.folder.server / "after" / f"{after.run.id}.collect" / "rows").exists()


def test_of_rows_that_were_damaged_since_they_came_the_rest_is_asked_for_again(after, monkeypatch):
    approve(after, *after.nodes)
    monkeypatch.setattr("fedsieve.methods.collecting.CHUNK_BYTES", 5 * 3 * 8)
    after.lead(what_follows(after.folder, after.run, "collect", list(after.nodes)))  # and the command is killed
    kept = after.folder.server / "after" / f"{after.run.id}.collect" / "rows" / "site-1" / "000002"
    kept.write_bytes(kept.read_bytes()[:-3])
    place = collect(after)
    for name in after.nodes:
        selected = after.run.result()["selected"]
        assert_array_equal(pd.read_parquet(place / f"{name}.parquet"), after.site(name).whole(selected))


def test_chunks_that_outlived_their_file_are_deleted(after, monkeypatch):
    """The command was killed between the file and the deletion of what it was made of."""
    approve(after, *after.nodes)
    with monkeypatch.context() as patch:
        patch.setattr(collecting_command.Shelf, "forget", lambda *_: None)
        collect(after)
    left = after.folder.server / "after" / f"{after.run.id}.collect" / "rows"
    assert len(list(left.iterdir())) == 3
    collect(after)
    assert not left.exists()


def test_called_again_it_asks_only_for_what_is_not_here(after, capsys):
    approve(after, "site-0")
    place = collect(after)
    first = (place / "site-0.parquet").read_bytes()
    approve(after, "site-1", "site-2")
    collect(after)
    assert len(list(place.glob("*.parquet"))) == 3
    assert (place / "site-0.parquet").read_bytes() == first
    asked = [line["run"] for line in WhatLeft(after.folder.site("site-0").path).chain.entries()]
    assert asked.count(f"{after.run.id}.collect") == 2  # the announcement and one chunk, once
    capsys.readouterr()
    collect(after)
    assert "rows of all 3 sites" in " ".join(capsys.readouterr().out.split())


def test_a_file_of_another_run_is_not_replaced_unasked(after):
    place = after.folder.path / "rows"
    place.mkdir()
    write_rows(place / "site-0.parquet", ["a"], [np.ones((2, 1))], {}, {"fedsieve.run": "another"})
    approve(after, *after.nodes)
    with pytest.raises(DataError, match="exists already, and is not of this run"):
        collect(after)
    collect(after, force=True)
    assert list(pd.read_parquet(place / "site-0.parquet").columns) == after.run.result()["selected"]


def test_a_file_is_no_place_for_files(after):
    approve(after, "site-0")
    (after.folder.path / "rows").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="rows: is a file; the result needs a folder"):
        collect(after)
    assert not (after.folder.server / "after").exists()


def test_nobody_consents_and_nothing_is_written(after):
    with pytest.raises(ProtocolError, match="no site sent rows"):
        collect(after)
    assert not (after.folder.path / "rows").exists()


@pytest.mark.parametrize("kind", ["AskRowsOffer", "AskRowsChunk"])
def test_a_server_or_site_that_dies_goes_on_where_it_stopped_with_the_same_bytes(after, monkeypatch, kind, tmp_path):
    monkeypatch.setattr("fedsieve.methods.collecting.CHUNK_BYTES", 3 * 3 * 8)
    approve(after, *after.nodes)
    collect(after, output=tmp_path / "whole")
    honest = dict(after.nodes)
    sabotage(after, "site-1", kind, raises, kind_of="query.after", nth=2 if kind == "AskRowsChunk" else 1)
    collect(after)
    after.nodes.update(honest)
    there = after.folder.path / "rows"
    assert not (there / "site-1.parquet").exists()
    collect(after)
    for name in after.nodes:
        assert (there / f"{name}.parquet").read_bytes() == (tmp_path / "whole" / f"{name}.parquet").read_bytes()
    assert not list(after.folder.path.rglob("*.part"))


def test_a_site_that_lies_about_its_rows_sends_none(after, capsys):
    approve(after, *after.nodes)
    lie(after, "site-1", "AskRowsChunk", changed(values=lambda reply: reply.values + 1), kind_of="query.after")
    place = collect(after)
    assert sorted(path.name for path in place.glob("*.parquet")) == ["site-0.parquet", "site-2.parquet"]
    assert "sent other rows than it said: their SHA-256 differs" in " ".join(capsys.readouterr().err.split())


def test_the_second_consent_shows_columns_rows_and_bytes_and_is_recorded(after, capsys):
    approve(after, "site-0")
    said = " ".join(capsys.readouterr().out.split())
    selected = after.run.result()["selected"]
    n_rows = after.site("site-0").n_rows
    assert ", ".join(selected) in said
    assert f"all {n_rows}" in said
    assert f"{n_rows * 3 * 8}" in said
    entry = list(ConsentRecord(after.folder.site("site-0").path).chain.entries())[-1]
    told = {"what": "rows may leave", "by": "data steward", "how": "--yes", "run": after.run.id, "rows": n_rows}
    assert told.items() <= entry.items()
    assert entry["columns"]["names"] == selected


def test_nobody_is_there_to_ask(after):
    with pytest.raises(ProtocolError, match="nobody is there to ask"):
        approve_rows(after.folder.site("site-0").path, run=None, yes=False, by="", withdraw=False)


def test_a_withdrawn_consent_is_none(after):
    approve(after, "site-0", "site-1")
    approve_rows(after.folder.site("site-0").path, run=None, yes=False, by="", withdraw=True)
    place = collect(after)
    assert [path.name for path in place.glob("*.parquet")] == ["site-1.parquet"]


def test_to_withdraw_what_nobody_consented_to_is_an_error_and_without_a_name_all_is_withdrawn(after):
    def withdraw(run=None):
        approve_rows(after.folder.site("site-0").path, run=run, yes=False, by="", withdraw=True)

    record = ConsentRecord(after.folder.site("site-0").path)
    with pytest.raises(ProtocolError, match="No rows may leave at present"):
        withdraw()
    first = after.run.id
    approve(after, "site-0")
    after.run = after.lead()  # a newer run, of which nobody let rows leave
    with pytest.raises(ProtocolError, match=f"nothing to withdraw of run 'typo'. Rows may leave of '{first}'"):
        withdraw("typo")
    assert record.runs_let_go() == [first]
    approve(after, "site-0")
    assert record.runs_let_go() == [first, after.run.id]
    withdraw()
    assert record.runs_let_go() == []


def test_what_came_so_far_can_be_purged(after):
    this = what_follows(after.folder, after.run, "collect", ["site-0"])
    (this.rows / "site-0").mkdir(parents=True)
    (kept,) = [one for one in kept_in(after.folder.path) if "has not handed over" in one.what]
    kept.delete()
    assert not this.rows.exists()


def test_nothing_follows_a_run_unless_it_was_agreed_on(after):
    after.agree("Sieve", parameters=QUICK, ranges="robust")
    with pytest.raises(ProtocolError, match="does not allow 'collect' after a run"):
        collect(after)
    with pytest.raises(ProtocolError, match="does not allow 'label' after a run"):
        label(after)

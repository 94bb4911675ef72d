"""A run's folder: found by its name or as the latest, and read while it is written."""

import pytest

from fedsieve.deployment import membership
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.runs import FOUND, RunFolder, find_run, new_run, next_number, what_follows
from fedsieve.errors import DataError, ProtocolError

SITES = ["north", "south"]


@pytest.fixture
def folder(tmp_path):
    text = agreement_text("fed", "h:1", SITES, ["f0", "f1"], ["y"])
    return membership.create(tmp_path / "fed", text, SITES, "h:1")


def test_a_run_is_found_by_its_name_or_is_the_latest(folder):
    first, second = new_run(folder, SITES, []), new_run(folder, ["north"], ["south"])
    assert first.id < second.id
    assert find_run(folder) == second
    assert find_run(folder, first.id) == first
    assert second.settings() == {
        "id": second.id,
        "sites": ["north"],
        "absent": ["south"],
        "agreement": folder.agreement().fingerprint,
    }


def test_the_latest_run_is_the_last_by_name_where_a_clock_is_coarse_or_was_set_back(folder):
    runs = [new_run(folder, SITES, []).id for _ in range(50)]
    assert len({run[:19] for run in runs}) == 50
    assert runs == sorted(runs)
    for name in ("of my own", "99991231-235959-999ffff"):  # the last has no millisecond after it
        (folder.server / "runs" / name).mkdir()
    (folder.server / "runs" / runs[-1]).rename(folder.server / "runs" / "21001231-235959-999ffff")
    assert new_run(folder, SITES, []).id.startswith("21010101-000000-000")


def test_a_run_that_is_only_being_made_is_not_found(folder):
    run = new_run(folder, SITES, [])
    make_private(folder.server / "runs" / "99991231-235959-000aaaa")
    assert find_run(folder) == run


def test_a_run_that_is_not_there_is_named_with_those_that_are(folder):
    with pytest.raises(DataError, match=r"fed: has no run yet\. Start one: fedsieve federation run .*fed$"):
        find_run(folder)
    run = new_run(folder, SITES, [])
    with pytest.raises(DataError, match=rf"fed: has no run 'other'\. Known: {run.id}\.$"):
        find_run(folder, "other")


def test_a_line_that_is_being_written_is_passed_over(tmp_path):
    run = RunFolder(tmp_path)
    assert run.events() == []
    run.tell("started", pid=7)
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"time": 1, "event": "rou')
    (event,) = run.events()
    assert (event["event"], event["pid"]) == ("started", 7)


def test_one_process_leads_a_run_at_a_time(tmp_path):
    run = RunFolder(tmp_path)
    with run.lead():
        assert run.leader() is not None
        with pytest.raises(ProtocolError, match="is led by another process already"), run.lead():
            pytest.fail("led twice")
    assert run.leader() is None
    assert [event["event"] for event in run.events()] == ["started"]


def test_a_failure_is_kept_until_it_is_forgotten(tmp_path):
    run = RunFolder(tmp_path)
    run.forget_failure()
    assert run.failure() is None
    run.fail("no site is there")
    assert run.failure() == "no site is there"
    run.forget_failure()
    assert run.failure() is None


def test_what_follows_a_run_is_begun_anew_unless_a_process_leads_it(folder):
    run = new_run(folder, SITES, [])
    this = what_follows(folder, run, "collect", ["north"])
    assert (this.id, this.follows, this.has_ended) == (f"{run.id}.collect", run.id, False)
    assert find_run(folder).id == run.id  # the latest run is one by itself
    assert find_run(folder, this.id).path == this.path
    this.keep_aside(FOUND, {})
    this.fail("lost")
    assert this.has_ended
    with this.lead():
        assert what_follows(folder, run, "collect", ["south"]).settings()["sites"] == ["north"]
        assert this.has_ended
    again = what_follows(folder, run, "collect", ["south"])
    assert again.settings()["sites"] == ["south"]
    assert (again.has_ended, again.failure()) == (False, None)
    assert next_number(folder, run, "collect") == 1
    assert next_number(folder, run, "label") == 0

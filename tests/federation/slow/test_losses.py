"""Sites that are lost in the middle of a run: named with a reason, and the rest find what they find by themselves."""

import json
import signal

import pytest

from federation.consortium import RUN_SECONDS, running
from federation.processes import send
from federation.tables import assert_same, given_to_sites
from fedsieve.deployment import keys

pytestmark = pytest.mark.federation

TIMEOUT = 90  # on a busy machine, too, the others answer in time
# Who sees a silent site first, our clock or the engine's clock of nodes, is a race.
SILENT = (
    f"did not answer within {TIMEOUT} s.",
    "its node is gone, no heartbeat (the engine's code 5).",
)

PATIENCE_OF_THE_ENGINE = 30  # seconds without a heartbeat


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    sites, options = "siteA,siteB,siteC,siteD,siteE", ("--timeout", TIMEOUT, "--ranges", "robust")  # three rounds
    with running(tmp_path_factory.mktemp("losses"), sites, *options, waits=False) as consortium:
        yield consortium


@pytest.fixture
def without_rows(consortium):
    """Take the prepared rows of sites away while a test runs: their processes then raise."""
    moved = []

    def hide(*names):
        for name in names:
            rows = consortium.site(name) / "prepared" / "rows.npy"
            moved.append((rows.rename(rows.with_suffix(".away")), rows))

    yield hide
    for away, rows in moved:
        away.rename(rows)


def refusals(run, site):
    return [event["reason"] for event in run.folder.events() if event["event"] == "refused" and event["site"] == site]


def test_client_processes_that_raise_are_named_with_the_kind_of_error_only(consortium, without_rows):
    without_rows("siteA")
    operator = consortium.site("siteB") / "operator.pub"
    genuine = operator.read_bytes()
    keys.write_public_key(keys.new_key().public_key(), operator)  # so siteB finds that nothing is signed by it
    try:
        run = consortium.run(out="raised")
        record = run.result()
    finally:
        operator.write_bytes(genuine)
    assert set(record["dropped"]) == {"siteA", "siteB"}
    assert "cannot be read: No such file or directory. Leave (Ctrl-C) and join again." in record["dropped"]["siteA"]
    assert "its process failed (the engine's code 2)." in record["dropped"]["siteB"]
    assert_same(record, consortium.expected("siteA", "siteB"))
    for name in ("siteC", "siteD", "siteE"):
        file = consortium.site(name) / "results" / run.folder.id / "selection.json"
        assert json.loads(file.read_text()) == given_to_sites(record)
    for name in ("siteA", "siteB"):
        assert not (consortium.site(name) / "results" / run.folder.id).exists()


def test_too_few_remaining_sites_end_the_run_with_a_message_and_no_result(consortium, without_rows):
    without_rows("siteA", "siteB", "siteC", "siteE")
    run = consortium.run(out="too-few")
    assert run.command.wait(RUN_SECONDS) == 2
    assert "only 1 site remains; 2 are needed. Dropped: 'siteA'" in run.command.message
    assert run.folder.id in run.command.message
    assert not run.output.exists()
    assert run.folder.result() is None
    for name in consortium.names:
        assert not (consortium.site(name) / "results" / run.folder.id).exists()
    status = consortium.call("status", consortium.fed).text
    assert f"Run {run.folder.id} failed: " in status


def test_a_hanging_site_is_reported_by_name_within_the_timeout_and_the_run_goes_on(consortium):
    run = consortium.run(out="hung")
    asked = run.asked("AskMoments")
    stopped = consortium.pids("siteC")
    send(stopped, signal.SIGSTOP)
    try:
        refused = run.event("refused", site="siteC")
        assert refused["reason"] in SILENT
        assert PATIENCE_OF_THE_ENGINE <= refused["time"] - asked["time"] < TIMEOUT + 15
        record = run.result()
    finally:
        send(stopped, signal.SIGCONT)
    assert record["dropped"] == {"siteC": refused["reason"]}
    assert f"siteC: {refused['reason']}" in run.command.text
    assert_same(record, consortium.expected("siteC"))


def test_sites_killed_in_the_ranges_moments_and_sums_rounds_are_left_behind_one_by_one(consortium):
    run = consortium.run(out="killed")
    lost = {"siteA": "AskHistograms", "siteB": "AskMoments", "siteC": "AskPairSums"}
    for number, (name, kind) in enumerate(lost.items()):
        asked = run.asked(kind, RUN_SECONDS)
        assert name in asked["sites"]
        consortium.kill_site(name)
        answered = [event for event in run.folder.events() if event["event"] == "answered"]
        assert not [event for event in answered if event["round"] == asked["round"] and event["site"] == name]
        refused = run.event("refused", site=name)
        assert refused["reason"] in SILENT
        assert refused["round"] == asked["round"]
        assert len([event for event in run.folder.events() if event["event"] == "refused"]) == number + 1
    record = run.result()
    assert set(record["dropped"]) == set(lost)
    assert all(reason in SILENT for reason in record["dropped"].values())
    assert set(record["n_rows"]) == {"siteD", "siteE"}
    assert_same(record, consortium.expected(*lost))
    for name in lost:
        assert f"went on without {name!r}" in run.command.text

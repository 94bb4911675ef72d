"""`fedsieve federation status` and what `run` tells on the way: who is there, since when, and whose clock is wrong."""

import datetime
import time

import pytest

from cli.founding import of_two_sites
from fedsieve.cli.federation import run as run_command
from fedsieve.cli.federation import status as status_command
from fedsieve.deployment.membership import add_site
from fedsieve.deployment.runs import new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import Control, NodeState
from fedsieve.transport.flower.engine import EngineError

LEFT = datetime.datetime(2026, 3, 4, 5, 6, 7, tzinfo=datetime.UTC)


@pytest.fixture
def fed(fedsieve, tables):
    """Of siteA, whose request is not approved, and four sites that have keys."""
    assert fedsieve("federation", "init", "--out", tables["fed"], *of_two_sites(tables)).code == 0
    folder = ServerFolder(tables["fed"])
    for name in ("never", "there", "gone", "new"):
        add_site(folder, name)
    return folder


@pytest.fixture
def states(fedsieve, fed, monkeypatch):
    """The states that `status` shows, by site; given what the engine says."""

    def show(nodes):
        class Answers:
            def __init__(self, _folder):
                if nodes is None:
                    raise EngineError("does not answer")

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def nodes(self):
                return nodes

        monkeypatch.setattr(status_command, "Control", Answers)
        result = fedsieve("federation", "status", fed.path)
        assert result.code == 0
        lines = [[cell.strip() for cell in line.split("│")] for line in result.out.splitlines() if "│" in line]
        return {cells[1]: cells[2] for cells in lines}

    return show


def test_every_site_has_a_state_from_its_request_to_its_last_sign(states):
    nodes = {
        "never": NodeState(1, "registered"),
        "there": NodeState(2, "online"),
        "gone": NodeState(3, "offline", LEFT),
    }
    assert states(nodes) == {
        "siteA": "request not approved",
        "siteB": "request not approved",
        "never": "approved, never joined",
        "there": "online",
        "gone": f"last heard of {LEFT.astimezone():%Y-%m-%d %H:%M}",
        "new": "approved, not registered yet",
    }


def test_a_run_that_failed_is_told_with_its_reason_and_each_site_with_what_it_refused(fedsieve, fed, monkeypatch):
    monkeypatch.setattr(status_command, "_nodes", lambda _folder: None)
    run = new_run(fed, ["there", "gone"], [])
    run.tell("round", round=1, kind="AskHistograms", sites=["there", "gone"])
    run.tell("answered", round=1, site="there", n_bytes=300, seconds=0.25)
    run.tell("refused", round=1, site="gone", reason="has 2 rows.")
    run.fail("only 1 site remains. Lower min_rows in policy.toml.")
    out = " ".join(fedsieve("federation", "status", fed.path).out.split())
    assert "refused round 1: has 2 rows." in out
    failed = f"Run {run.id} failed: only 1 site remains. Lower min_rows in policy.toml. Until then, round 1 (histograms"
    assert failed in out
    assert ".," not in out


def test_without_a_server_it_is_still_told_who_is_approved(states):
    found = states(None)
    assert found["siteA"] == "request not approved"
    assert {found[name] for name in ("never", "there", "gone", "new")} == {"approved"}


@pytest.mark.parametrize(("told", "left"), [(LEFT.isoformat(), LEFT), ("", None), ("yesterday", None)])
def test_the_engine_says_when_a_site_left(fed, monkeypatch, told, left):
    from flwr.proto.node_pb2 import NodeInfo

    from fedsieve.transport.flower import control

    key = fed.public_keys(("gone",))["gone"]
    node = NodeInfo(node_id=3, status="offline", public_key=control._pem(key), last_deactivated_at=told)
    with Control(fed) as connection:
        monkeypatch.setattr(connection, "listed", lambda: [node])
        assert connection.nodes() == {"gone": NodeState(3, "offline", left)}


def test_a_wrong_clock_is_a_warning_that_names_site_and_seconds(capsys):
    for seconds in (95, -3600):
        run_command._print_event({"event": "clock", "time": time.time(), "site": "siteB", "seconds_ahead": seconds})
    said = " ".join(capsys.readouterr().err.split())
    assert "Warning: the clock of siteB is 95 s ahead of the server's." in said
    assert "Warning: the clock of siteB is 3600 s behind the server's." in said


def test_it_is_told_once_and_not_at_every_answer():
    events = [{"event": "clock", "site": site, "seconds_ahead": 95} for site in ("siteA", "siteB", "siteA")]
    events.insert(1, {"event": "answered", "site": "siteA"})
    assert list(run_command._news(events, 0)) == events[:3]
    assert list(run_command._news(events, 1)) == events[1:3]
    assert list(run_command._news(events, 3)) == []


def test_a_damaged_event_of_a_clock_does_not_end_the_run(capsys):
    events = [{"event": "clock", "site": ["x"]}, {"event": "clock"}]
    for event in run_command._news(events, 0):
        run_command._print_event(event)
    assert capsys.readouterr().err.count("an event that cannot be shown: clock") == 2

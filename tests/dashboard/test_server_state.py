"""A server's state is a function of its folder: what it tells, and that nothing in the folder makes it fail."""

import json
import shutil

import numpy as np
import pytest

from dashboard.conftest import HOSTILE
from fedsieve.dashboard.reading import MOST_LINES, MOST_RUNS, MOST_WORDS
from fedsieve.dashboard.server_state import MOST_IN_ANSWER, newest, server_state
from fedsieve.deployment.runs import AFTER, new_run, what_follows

STATES = {"site-0": "online", "site-1": "online", "site-2": "last heard of 2026-03-04 05:06"}


def test_sites_the_run_and_its_ending(server):
    state = server_state(server, STATES)
    assert [(site["name"], site["online"]) for site in state["sites"]] == [
        *[("site-0", True), ("site-1", True), ("site-2", False)],
    ]
    assert state["figures"][0] == {"value": "2 of 3", "label": "sites online"}
    assert state["answer"].startswith("2 of 3 sites are online. The latest, a check, failed: <script>")
    done = state["runs"][1]
    assert (done["what"], done["state"], done["selected"], done["report"]) == ("selection", "done", 2, True)
    assert (done["round"], done["asks"]) == (2, "covariances of the columns")
    events = newest(server)[1].events()
    assert done["bytes"] == sum(event["n_bytes"] for event in events if event["event"] == "answered")
    assert state["troubles"] == []


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "Sieve: only 2 sites remain; 3 are needed. Dropped: 'siteC': has 200 rows; its rules ask for 1000 "
            "(min_rows in policy.toml): sums of few rows hide little. Wait for more rows, or lower it.",
            "Sieve: only 2 sites remain; 3 are needed.",
        ),
        ("words without an end " * 20, f"{'words without an end ' * 7}words without…"),
        ("x" * 400, f"{'x' * MOST_IN_ANSWER}…"),
        ("ends in policy.toml.", "ends in policy.toml."),
    ],
)
def test_a_failure_is_told_by_its_first_sentence_and_never_cut_in_a_word(server, reason, told):
    new_run(server, list(STATES), []).fail(reason)
    state = server_state(server, STATES)
    assert state["answer"] == f"2 of 3 sites are online. The latest run failed: {told}"
    assert state["run"]["reason"] == reason


def test_where_each_site_is_in_a_running_round(server):
    run = new_run(server, list(STATES), [])
    with run.lead():
        run.tell("round", round=1, kind="AskRanges", sites=list(STATES))
        run.tell("answered", round=1, site="site-0", n_bytes=300, seconds=0.25)
        run.tell("refused", round=1, site="site-2", reason="has left.")
        state = server_state(server, STATES)
    now = {site["name"]: (site["now"], site["sent"], site["waited_for"]) for site in state["sites"]}
    assert now == {
        "site-0": ("answered round 1", 300, False),
        "site-1": ("was asked round 1, is waited for", 0, True),
        "site-2": ("refused round 1: has left.", 0, False),
    }
    assert (state["run"]["state"], state["run"]["round"]) == ("running", 1)
    assert state["answer"].endswith("A run is in round 1 (ranges of the columns); 1 site to answer.")
    assert state["refusals"][0] | {"time": ""} == {
        "time": "",
        "site": "site-2",
        "round": 1,
        "reason": "has left.",
        "run": run.id,
    }
    assert server_state(server, STATES)["run"]["state"] == "interrupted"
    assert [line["words"] for line in state["events"]] == [
        "site-2: has left.",
        "site-0 answered, 300 B, 0.2 s",
        "round 1: ranges of the columns, asked of 3 sites",
        "the server's process has started",
    ]


def test_a_run_has_ended_when_its_result_is_delivered(server):
    before, run = newest(server)[1], new_run(server, list(STATES), [])
    with run.lead():
        shutil.copy(before.path / "selection.json", run.path)
        state = server_state(server, STATES)
        assert (state["run"]["state"], state["run"]["selected"]) == ("running", 2)
        assert state["answer"].endswith("The latest run has its result, which goes to the sites.")
        run.tell("delivered", site="site-0")
    state = server_state(server, STATES)
    assert state["sites"][0]["now"] == "has the result"
    assert state["answer"].endswith("The latest run has ended well and chose 2 features.")


def test_the_words_of_others_are_visible_and_few(server):
    state = server_state(server, {"site-0": HOSTILE})
    text = json.dumps(state, ensure_ascii=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(state["refusals"][0]["reason"]) <= MOST_WORDS + 3
    assert len(state["sites"][0]["state"]) <= MOST_WORDS + 3


def test_what_followed_a_run_is_among_the_runs(server):
    first = newest(server)[-1]
    what_follows(server, first, "collect", ["site-0"])
    assert [run["what"] for run in server_state(server, STATES)["runs"]] == [
        *["check", f"collect after {first.id}", "selection"],
    ]


@pytest.mark.parametrize("damage", ["events.jsonl", "run.json", "selection.json", "failed.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[1]\n", b'{"event": 1}\n', b"\xff\xfe", b'{"time": 1e999}'])
def test_a_damaged_record_is_said_and_the_rest_is_shown(server, damage, content):
    for run in newest(server):
        (run.path / damage).write_bytes(content)
    state = server_state(server, STATES)
    assert len(state["sites"]) == 3
    assert state["troubles"] or len(state["runs"]) == 2
    json.dumps(state, allow_nan=False)
    assert str(server.path) not in json.dumps(state["troubles"])


def test_events_of_another_version_are_passed_over(server):
    run = new_run(server, ["site-0"], [])
    run.tell("round", round="first", kind="AskRanges", sites=3)
    run.tell("answered", site="site-0")
    run.tell("dreamt", of="sheep")
    run.tell("answered", round=1, site="site-0", n_bytes=5, seconds=1)
    state = server_state(server, STATES)
    assert state["run"]["bytes"] == 5
    assert [line["words"] for line in state["events"]][1:] == [
        "an event that cannot be shown: answered",
        "an event that cannot be shown: round",
    ]


def test_without_an_agreement_or_runs_there_is_still_a_state(server):
    (server.path / "federation.toml").unlink()
    shutil.rmtree(server.server / "runs")
    state = server_state(server, {})
    assert state["answer"] == "0 of 0 sites are online. No run yet."
    assert len(state["troubles"]) == 1


def test_lists_are_bounded(server):
    for _ in range(MOST_RUNS + 5):
        run = new_run(server, ["site-0"], [])
    for _ in range(MOST_LINES + 5):
        run.tell("refused", round=1, site="site-0", reason="no.")
    state = server_state(server, STATES)
    assert (len(state["runs"]), len(state["events"]), len(state["refusals"])) == (MOST_RUNS, MOST_LINES, MOST_LINES)
    assert state["n_refusals"] == MOST_LINES + 5


def test_it_holds_no_rows_no_keys_and_no_replies(server, case):
    text = json.dumps(server_state(server, STATES))
    secrets = [path.read_text().splitlines()[2] for path in server.server.glob("*.key")]
    assert secrets
    assert not [secret for secret in secrets if secret in text]
    values = np.concatenate([case.X.ravel(), *(X.ravel() for X in case.clients.values())])
    assert not [value for value in values if f"{value:.6f}"[:8] in text and value != round(value)]
    assert not (server.server / AFTER).exists()

"""A site's state is a function of its folder: consent, rules, what left, results."""

import json
import time

import pytest

from fedsieve.dashboard.reading import MOST_LINES
from fedsieve.dashboard.site_state import site_state
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.lease import joined
from fedsieve.deployment.what_left import FILE, Departure, WhatLeft


def departure(**changes):
    facts = {
        "run": "r1",
        "round": 1,
        "request": "AskRanges",
        "reply": "Ranges",
        "columns": ["a"],
        "n_rows": 9,
        "n_bytes": 10,
        "asked_by": "key",
        "agreement": "a",
        "rule": "agreed on",
    }
    return Departure(**(facts | changes))


def test_what_left_is_summed_up_from_the_record(site):
    before = site_state(site)["left"]
    WhatLeft(site.path).add(departure(n_bytes=100, held_back=["a"]))
    WhatLeft(site.path).add(departure(reply="Refusal", n_bytes=7, refused="too few rows."))
    state = site_state(site)
    left = state["left"]
    assert (left["n"], left["bytes"], left["n_refused"]) == (before["n"] + 2, before["bytes"] + 107, 1)
    assert [message["about"] for message in left["messages"][:2]] == ["nothing", "9 rows, 1 column, 1 held back"]
    assert left["messages"][0]["refused"] == "too few rows."
    assert left["messages"][0]["title"] == "ranges of the columns"
    assert not left["broken"]
    assert state["runs"][0] | {"shift": ""} == {
        "id": "r1",
        "messages": 2,
        "bytes": 107,
        "refused": 1,
        "size": "107 B",
        "selected": None,
        "shift": "",
        "report": False,
    }
    assert (state["runs"][1]["selected"], state["runs"][1]["report"]) == (2, True)


def test_a_changed_record_is_called_broken(site):
    file = site.path / FILE
    file.write_bytes(file.read_bytes().replace(b'"round": 1', b'"round": 7'))
    left = site_state(site)["left"]
    assert left["broken"]
    assert "line 1 was changed" in left["verdict"]


def test_consent_holds_only_while_join_is_alive(site):
    assert site_state(site)["consent"]["now"] is False
    with joined(site):
        state = site_state(site)
        assert state["consent"]["now"] is True
        assert state["consent"]["words"].startswith("test consented on ")
        assert state["answer"] == f"{site.name} takes part; 2 messages left it so far."
        ConsentRecord(site.path).leave("ended by this site")
        assert site_state(site)["consent"]["now"] is False
    assert site_state(site)["consent"]["entries"][0]["how"] == "ended by this site"


def test_rules_and_what_may_leave(site):
    state = site_state(site)
    rules = {rule["rule"]: rule for rule in state["policy"]}
    assert (rules["min_rows"]["value"], rules["min_rows"]["is_default"]) == ("5", False)
    told = {one["message"]: one["title"] for one in state["may_leave"]}
    assert told["Covariances"] == "covariances of the columns"


def test_times_are_told_as_the_server_tells_them(site, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        lines = [{"n": 3, "before": "x", "time": "2026-01-02T23:30:00Z", **departure().facts()}]
        lines.append({"n": 4, "before": "x", "time": "some day", **departure().facts()})
        with (site.path / FILE).open("a") as file:
            file.writelines(f"{json.dumps(line)}\n" for line in lines)
        times = [one["time"] for one in site_state(site)["left"]["messages"][:2]]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert times == ["some day", "2026-01-03 00:30:00"]


@pytest.mark.parametrize("file", [FILE, "consent.jsonl", "policy.toml", "federation.toml", "site.json"])
@pytest.mark.parametrize("content", [b"", b'{"n": 1, "before": "", "columns": 3}\n', b"\xff", b"x = {"])
def test_damaged_files_are_said_and_the_rest_is_shown(site, file, content):
    (site.path / file).write_bytes(content)
    state = site_state(site)
    json.dumps(state, allow_nan=False)
    assert state["format"] == "fedsieve-live/1"
    assert str(site.path) not in json.dumps(state["troubles"])


def test_many_messages_are_counted_and_the_last_shown(site):
    lines = []
    for n in range(3, MOST_LINES + 23):
        lines.append(json.dumps({"n": n, "before": "x", "time": "", **departure(round=n).facts()}))
    with (site.path / FILE).open("a") as file:
        file.write("\n".join(lines) + "\n")
    left = site_state(site)["left"]
    assert (left["n"], len(left["messages"])) == (MOST_LINES + 22, MOST_LINES)
    assert left["messages"][0]["n"] == MOST_LINES + 22
    assert left["broken"]  # these lines are no part of the chain


def test_it_holds_no_keys_and_no_column_names(site):
    text = json.dumps(site_state(site))
    for key in site.path.glob("*.key"):
        assert key.read_text().splitlines()[2] not in text
    assert "rows_digest" not in text

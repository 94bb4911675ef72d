"""The record of what left: every message's facts, refusals too, and nothing of a row."""

import json

import pytest

from fedsieve.deployment.what_left import Departure, WhatLeft

SENT = Departure(
    run="20261116-024817-4eeb94", round=2, request="AskCovariances", reply="Covariances", columns=("age", "dose"),
    n_rows=120, n_bytes=426, asked_by="SHA256:abc", agreement="f" * 64, rule="agreed; 120 rows, min_rows = 50",
    held_back=("rare",),
)  # fmt: skip


def test_a_line_holds_the_facts_of_a_message(tmp_path):
    WhatLeft(tmp_path).add(SENT)
    (entry,) = WhatLeft(tmp_path).chain.entries()
    assert entry.pop("time").endswith("Z")
    assert entry == {
        "n": 1,
        "before": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "run": "20261116-024817-4eeb94",
        "round": 2,
        "request": "AskCovariances",
        "reply": "Covariances",
        "columns": {"number": 2, "names": ["age", "dose"]},
        "held_back": ["rare"],
        "rows": 120,
        "bytes": 426,
        "asked_by": "SHA256:abc",
        "agreement": "f" * 64,
        "rule": "agreed; 120 rows, min_rows = 50",
        "refused": "",
    }


@pytest.mark.parametrize(("n", "key"), [(50, "names"), (51, "sha256")])
def test_many_columns_are_known_by_the_digest_of_their_names(n, key):
    columns = tuple(f"f{i}" for i in range(n))
    one, other = (Departure("r", 1, "AskX", "X", names, 9, 9, "k", "a", "rule") for names in (columns, columns[::-1]))
    assert set(one.facts()["columns"]) == {"number", key}
    assert one.facts()["columns"] != other.facts()["columns"]


def test_a_refusal_s_reason_is_cut_to_what_a_person_reads(tmp_path):
    refusal = Departure("r", 1, "AskX", "Refusal", (), 0, 9, "k", "a", "", refused="no\n\x1b[31m" * 1000)
    WhatLeft(tmp_path).add(refusal)
    line = (tmp_path / "what-left.jsonl").read_text()
    assert len(json.loads(line)["refused"]) == 1000
    assert "\x1b" not in line
    assert line.count("\n") == 1

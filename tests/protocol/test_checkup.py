"""What a check finds: gaps, constants, foreign codes, each in one sentence that tells no value."""

import numpy as np

from fedsieve.measures.binning import bin_counts, edges_of_points, edges_of_values
from fedsieve.measures.column_facts import ColumnFacts, facts_of_tables
from fedsieve.protocol.checkup import checkup, findings


def binned(counts, edges, n_rows=None):
    return ColumnFacts.of(("x",), n_rows or int(counts.sum()), [(edges, counts)], count=[counts.sum()])


def test_parties_that_are_alike_give_no_finding():
    rng = np.random.default_rng(0)
    tables = facts_of_tables({name: rng.normal(5, 1, (40, 3)) for name in "pqr"}, ("a", "b", "c"))
    report = checkup(tables, np.zeros(3, dtype=bool))
    assert findings(report) == []
    assert report["parties"]["p"] == {"rows": 40, "missing": {}, "constant": [], "unknown_codes": {}}


def test_gaps_and_constants_are_told_by_column():
    rng = np.random.default_rng(0)
    tables = {name: rng.normal(5, 1, (40, 3)) for name in ("p", "q", "r")}
    tables["p"][:30, 0] = np.nan
    tables["q"][:10, 0] = np.nan
    tables["q"][:, 1] = 5.5
    for X in tables.values():
        X[:, 2] = 7.0
    report = checkup(facts_of_tables(tables, ("a", "b", "c")), np.zeros(3, dtype=bool))
    assert report["parties"]["p"]["missing"] == {"a": 0.75}
    assert report["parties"]["q"]["missing"] == {"a": 0.25}
    assert findings(report) == [
        "all parties: one value only in 'c'.",
        "p: half of the values or more are missing in 'a'.",
        "q: one value only in 'b', which vary elsewhere.",
    ]


def test_codes_that_nobody_else_has_are_counted_and_not_told():
    edges = edges_of_points([1.0, 2.0, 3.0, 77.0])
    common, alone = np.array([1.0, 2.0, 3.0] * 9), np.array([1.0, 2.0, 3.0, 77.0] * 9)
    tables = {"p": common, "q": alone, "r": common}
    report = checkup({n: binned(bin_counts(c, edges), edges) for n, c in tables.items()}, np.array([True]))
    assert report["parties"]["q"]["unknown_codes"] == {"x": 1}
    assert findings(report) == ["q: codes that no other party has in 'x'."]
    assert not any("77" in words for words in findings(report))


def test_a_column_of_two_values_that_a_site_codes_otherwise_is_named_and_a_measurement_never():
    labeled = np.array([0.0, 1.0] * 20)
    edges = edges_of_values(labeled)
    tables = {"server": labeled, "p": labeled, "q": labeled + 1}
    report = checkup({n: binned(bin_counts(c, edges), edges) for n, c in tables.items()}, np.array([False]))
    assert findings(report) == ["q: codes that no other party has in 'x'."]
    rng = np.random.default_rng(1)
    measured = {name: rng.normal(size=40) for name in tables}
    edges = edges_of_values(measured["server"])
    facts = {n: binned(bin_counts(c, edges), edges) for n, c in measured.items()}
    assert all(not party["unknown_codes"] for party in checkup(facts, np.array([False]))["parties"].values())

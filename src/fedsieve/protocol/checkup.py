"""What is noticeable in the columns of several parties before they select together: gaps, constants, foreign codes.

For a dry round of a federation, and for files; tells of columns and numbers of rows, never of a value.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fedsieve.arrays import Bool
from fedsieve.errors import listed
from fedsieve.measures.binning import around_points
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.measures.shift import compare
from fedsieve.protocol.shift import shift_record, shift_words

MANY_MISSING = 0.5  # share of a column from which on it is a finding


def checkup(parties: Mapping[str, ColumnFacts], nominal: Bool) -> dict[str, Any]:
    """Per party rows, shares of missing values, constant columns, codes that no other party has; and the shift."""
    unknown = _unknown_codes(list(parties.values()), nominal)
    found = {
        name: {
            "rows": facts.n_rows,
            "missing": _missing(facts),
            "constant": [facts.features[i] for i in np.flatnonzero(_constant(facts))],
            "unknown_codes": unknown[place],
        }
        for place, (name, facts) in enumerate(parties.items())
    }
    return {"parties": found, "shift": shift_record(compare(parties, ~nominal))}


def findings(report: Mapping[str, Any]) -> list[str]:
    """A sentence for each thing that somebody should look at; none where all is well."""
    parties, words = report["parties"], []
    constant = [set(party["constant"]) for party in parties.values()]
    everywhere = set.intersection(*constant) if constant else set()
    if everywhere:
        words.append(f"all parties: one value only in {listed(sorted(everywhere))}.")
    for name, party in parties.items():
        alone = [column for column in party["constant"] if column not in everywhere]
        gaps = [column for column, share in party["missing"].items() if share >= MANY_MISSING]
        foreign = list(party["unknown_codes"])
        if gaps:
            words.append(f"{name}: half of the values or more are missing in {listed(gaps)}.")
        if alone:
            words.append(f"{name}: one value only in {listed(alone)}, which vary elsewhere.")
        if foreign:
            words.append(f"{name}: codes that no other party has in {listed(foreign)}.")
    return [*words, *shift_words(report["shift"])]


def _missing(facts: ColumnFacts) -> dict[str, float]:
    shares = 1 - facts.count / max(facts.n_rows, 1)
    return {name: float(share) for name, share in zip(facts.features, shares, strict=True) if share > 0}


def _constant(facts: ColumnFacts) -> Bool:
    """Columns without spread; where only bins are told, those whose values lie in one."""
    in_one_bin = [part is not None and np.count_nonzero(part[1]) == 1 for part in facts.bins]
    told = ~np.isnan(facts.deviation) | ~np.isnan(facts.low)
    return np.where(told, (facts.deviation == 0) | (facts.low == facts.high), in_one_bin)


def _unknown_codes(facts: list[ColumnFacts], nominal: Bool) -> list[dict[str, int]]:
    """Per party and column in how many bins of codes it is alone; bins of one or two points count as codes as well."""
    unknown: list[dict[str, int]] = [{} for _ in facts]
    for column, name in enumerate(facts[0].features if facts else ()):
        parts = [party.bins[column] for party in facts]
        edges = next((part[0] for part in parts if part is not None), None)
        if edges is None or not (nominal[column] or around_points(edges)):
            continue
        used = np.array([np.zeros(len(edges) + 1) if part is None else part[1] for part in parts]) > 0
        alone = used & (used.sum(axis=0) == 1)
        for place in np.flatnonzero(alone.any(axis=1)):
            unknown[place][name] = int(alone[place].sum())
    return unknown

"""Files of several sites beside each other, before they select together: columns, gaps, codes, copies, units."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import names_that_differ
from fedsieve.datasets.tables import numeric_columns
from fedsieve.errors import DataError, listed
from fedsieve.measures.binning import bin_counts, edges_of_points
from fedsieve.measures.column_facts import NUMBERS, ColumnFacts, facts_of_rows
from fedsieve.protocol.checkup import checkup, findings

COPIES = 0.999  # absolute correlation from which on two columns are nearly the same
MOST_COLUMNS = 2000  # that are compared with each other
MOST_COPIES = 20  # pairs that are told
FEW_CODES = 2  # different values that no column of measurements has


def compare_files(tables: Mapping[str, Any], labeled: str = "", nominal: Sequence[str] = ()) -> dict[str, Any]:
    """What is noticeable in pyarrow tables by name, as plain values; `labeled` names the one that has labels too.

    Columns that only the labeled table has are taken for its labels.
    """
    expected, labels = _expected(tables, labeled)
    absent = set(nominal) - set(expected)
    if absent:
        raise DataError(f"--nominal names {listed(sorted(absent))}, which no or few files have. Correct the names.")
    values, text, free, mixed = _values(tables, expected)
    features = tuple(expected)
    facts = {name: _facts(rows, features) for name, rows in values.items()}
    coded = np.array([name in text or name in set(nominal) for name in features], dtype=bool)
    _add_codes(facts, values, coded)
    report = checkup(facts, coded)
    for name, table in tables.items():
        own = [column for column in table.column_names if column not in labels]
        missing, extra = names_that_differ(expected, own)
        party = report["parties"][name]
        unread = {*missing, *free, *(column for column, where in mixed.items() if name in where)}
        gaps = {column: share for column, share in party["missing"].items() if column not in unread}
        party |= {"missing": gaps, "columns_missing": missing, "columns_extra": extra}
    copies = _copies(list(values.values()), features, coded)
    report |= {"labels": labels, "mixed": mixed, "free_text": free, "copies": copies}
    return {**report, "findings": [*_of_columns(report), *findings(report)]}


def _expected(tables: Mapping[str, Any], labeled: str) -> tuple[list[str], list[str]]:
    """The columns that all should have, and the labels: those of the labeled table, else those of most files."""
    others = {name: set(table.column_names) for name, table in tables.items() if name != labeled}
    if labeled:
        at_sites = set().union(*others.values())
        own = tables[labeled].column_names
        return [name for name in own if name in at_sites], [name for name in own if name not in at_sites]
    seen = dict.fromkeys(name for table in tables.values() for name in table.column_names)
    return [name for name in seen if 2 * sum(name in own for own in others.values()) > len(others)], []


class _Values(NamedTuple):
    """All expected columns of each file as numbers, NaN where there are none."""

    rows: dict[str, Float]
    text: set[str]  # columns of categories, which are numbered
    free: list[str]  # columns whose text differs from row to row
    mixed: dict[str, list[str]]  # columns of numbers, and the files in which they hold text


def _values(tables: Mapping[str, Any], expected: list[str]) -> _Values:
    rows = {name: np.full((table.num_rows, len(expected)), np.nan) for name, table in tables.items()}
    found = _Values(rows, set(), [], {})
    for place, column in enumerate(expected):
        numbers: dict[str, Float] = {}
        words: dict[str, list[Any]] = {}
        for name, table in tables.items():
            if column not in table.column_names:
                continue
            try:
                numbers[name] = numeric_columns(table, [column], name)[:, 0]
            except DataError:
                words[name] = table.column(column).to_pylist()
        if any(not np.isnan(known).all() for known in numbers.values()):
            found.mixed.update({column: list(words)} if words else {})
        elif words:
            kinds = sorted({str(word) for own in words.values() for word in own if word is not None})
            if 2 * len(kinds) > sum(map(len, words.values())):
                found.free.append(column)
            else:
                found.text.add(column)
                numbers |= _numbered(words, kinds)
        for name, known in numbers.items():
            rows[name][:, place] = known
    return found


def _numbered(words: Mapping[str, list[Any]], kinds: list[str]) -> dict[str, Float]:
    """Categories as numbers, the same for all files."""
    code = {kind: float(place) for place, kind in enumerate(kinds)}
    return {name: np.array([np.nan if one is None else code[str(one)] for one in own]) for name, own in words.items()}


def _facts(rows: Float, features: tuple[str, ...]) -> ColumnFacts:
    return facts_of_rows(np.where(np.isinf(rows), np.nan, rows), features)


def _add_codes(facts: dict[str, ColumnFacts], values: Mapping[str, Float], coded: Bool) -> None:
    """Count codes one by one: of nominal columns, and of those that have two values at most in every file."""
    bins: dict[str, list[Any]] = {name: [None] * len(coded) for name in facts}
    for place, is_coded in enumerate(coded):
        columns = {name: rows[~np.isnan(rows[:, place]), place] for name, rows in values.items()}
        kinds = {name: np.unique(column) for name, column in columns.items()}
        every = np.unique(np.concatenate(list(kinds.values())))
        if len(every) and (is_coded or max(map(len, kinds.values())) <= FEW_CODES):
            edges = edges_of_points(every)
            for name, column in columns.items():
                bins[name][place] = (edges, bin_counts(column, edges))
    for name, one in facts.items():
        numbers = {part: getattr(one, part) for part in NUMBERS}
        facts[name] = ColumnFacts.of(one.features, one.n_rows, bins[name], **numbers)


def _copies(parties: list[Float], features: tuple[str, ...], coded: Bool) -> list[list[str]]:
    """Pairs of columns that are nearly the same up to their unit, wherever both vary."""
    if len(features) > MOST_COLUMNS:
        return []
    alike = np.zeros((len(features), len(features)), dtype=bool)
    unlike = alike.copy()
    for rows in parties:
        same, both = _same(rows)
        alike |= both & same
        unlike |= both & ~same
    first, second = np.nonzero(np.triu(alike & ~unlike, 1) & ~coded & ~coded[:, None])
    return [[features[i], features[j]] for i, j in zip(first, second, strict=True)]


def _same(rows: Float) -> tuple[Bool, Bool]:
    """Which two columns are nearly the same in the rows that have both, and which two vary there at all."""
    present = ~np.isnan(rows)
    centered = np.where(present, rows, 0.0)
    centered = np.where(present, centered - centered.sum(axis=0) / np.maximum(present.sum(axis=0), 1), 0.0)
    here = present.astype(np.float64)
    n, sums, squares = np.maximum(here.T @ here, 1), centered.T @ here, (centered**2).T @ here
    spread = np.maximum(squares - sums**2 / n, 0.0)  # of the first of two
    products = np.abs(centered.T @ centered - sums * sums.T / n)
    most = np.sqrt(spread * spread.T)
    both = most > 1e-12 * np.sqrt(squares * squares.T)  # beyond rounding
    return products >= COPIES * most, both


def _of_columns(report: Mapping[str, Any]) -> list[str]:
    """A sentence for each thing about columns as such."""
    words = []
    for name, party in report["parties"].items():
        for what, verb in (("columns_missing", "lacks"), ("columns_extra", "alone has")):
            if party[what]:
                words.append(f"{name}: {verb} the columns {listed(party[what])}.")
    copies = report["copies"]
    for column in report["free_text"]:
        words.append(f"column {column!r} holds text of its own in most rows: an ID, or free text?")
    for column, where in report["mixed"].items():
        words.append(f"column {column!r} holds text in {listed(where)}, numbers elsewhere.")
    words += [f"columns {first!r} and {second!r} are nearly the same." for first, second in copies[:MOST_COPIES]]
    more = len(copies) - MOST_COPIES
    return [*words, f"{more} more pairs of columns are nearly the same."] if more > 0 else words

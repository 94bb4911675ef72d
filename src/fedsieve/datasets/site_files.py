"""Files of several sites beside each other, before they select together: columns, gaps, codes, copies, units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.categories import codes, named_like_an_id
from fedsieve.checks import names_that_differ
from fedsieve.datasets.coding import why_no_feature
from fedsieve.datasets.kinds import DATES, EMPTY, NEITHER, NUMBERS, TEXT, Column, arrow_column, as_words, to_numbers
from fedsieve.errors import DataError, listed
from fedsieve.measures.binning import bin_counts, edges_of_points
from fedsieve.measures.column_facts import NUMBERS as FACTS
from fedsieve.measures.column_facts import ColumnFacts, facts_of_tables
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
    found = _values(tables, expected, nominal)
    features = tuple(expected)
    finite = {name: np.where(np.isinf(rows), np.nan, rows) for name, rows in found.rows.items()}
    facts = facts_of_tables(finite, features)
    coded = np.array([name in found.codes or name in set(nominal) for name in features], dtype=bool)
    _add_codes(facts, found.rows, coded)
    report = checkup(facts, coded)
    for name, table in tables.items():
        own = [column for column in table.column_names if column not in labels]
        differ = names_that_differ(expected, own)
        missing, extra = ([one for one in names if not named_like_an_id(one)] for names in differ)  # ids may differ
        party = report["parties"][name]
        unread = found.unread(name).union(*differ)
        gaps = {column: share for column, share in party["missing"].items() if column not in unread}
        party |= {"missing": gaps, "columns_missing": missing, "columns_extra": extra}
    report |= {
        "labels": labels,
        "left_out": found.left_out,
        "mixed": found.mixed,
        "odd": found.odd,
        "free_text": found.free,
        "copies": _copies(list(found.rows.values()), features, coded),
    }
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


@dataclass(frozen=True)
class _Values:
    """All expected columns of each file as numbers, NaN where there are none to be compared."""

    rows: dict[str, Float]
    codes: set[str] = field(default_factory=set)  # columns of categories, by number
    free: list[str] = field(default_factory=list)  # columns whose text differs from row to row
    mixed: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # column -> kind -> files; not the same in all
    odd: dict[str, dict[str, str]] = field(default_factory=dict)  # file -> column -> why nobody can read it
    left_out: dict[str, str] = field(default_factory=dict)  # column -> why it is not compared

    def unread(self, name: str) -> set[str]:
        """Columns that have no numbers in this file, though they may have values."""
        other = {
            column
            for column, kinds in self.mixed.items()
            if any(name in files for kind, files in kinds.items() if kind != NUMBERS)
        }
        return {*self.free, *self.left_out, *self.odd.get(name, ()), *other}


def _values(tables: Mapping[str, Any], expected: list[str], nominal: Sequence[str]) -> _Values:
    found = _Values({name: np.full((table.num_rows, len(expected)), np.nan) for name, table in tables.items()})
    for place, column in enumerate(expected):
        there = {name: table.column(column) for name, table in tables.items() if column in table.column_names}
        known = {name: arrow_column(cells) for name, cells in there.items()}
        known = {name: one for name, one in known.items() if one.kind != EMPTY}
        for name, numbers in _numbers(column, known, column in nominal, found).items():
            found.rows[name][:, place] = numbers
    return found


def _numbers(column: str, known: dict[str, Column], nominal: bool, found: _Values) -> dict[str, Float]:
    """The files' values of one column as numbers, as far as they can be compared; what cannot be is noted."""
    kinds: dict[str, list[str]] = {}
    for name, one in known.items():
        kinds.setdefault(TEXT if nominal and one.kind == NEITHER and len(one.values) else one.kind, []).append(name)
    if not nominal and (named_like_an_id(column) or set(kinds) == {NUMBERS}) and (why := why_no_feature(column, known)):
        found.left_out[column] = why
        return {}
    for name in kinds.pop(NEITHER, ()):
        found.odd.setdefault(name, {})[column] = known[name].why
    if set(kinds) == {DATES}:
        found.left_out[column] = "holds dates"
        return {}
    if TEXT in kinds and (nominal or len(kinds) == 1):
        return _codes(column, {name: as_words(known[name], 0) for names in kinds.values() for name in names}, found)
    if len(kinds) > 1:
        found.mixed[column] = kinds
    if kinds and all(one.coded for one in known.values()):
        found.codes.add(column)
    return {name: to_numbers(known[name].values) for name in kinds.get(NUMBERS, ())}


def _codes(column: str, words: Mapping[str, list[str | None]], found: _Values) -> dict[str, Float]:
    """Categories as numbers, by their words and so the same for all files."""
    every = sorted({word for own in words.values() for word in own if word is not None})
    if 2 * len(every) > sum(map(len, words.values())):
        found.free.append(column)
        return {}
    found.codes.add(column)
    return {name: codes(own, every)[0] for name, own in words.items()}


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
        numbers = {part: getattr(one, part) for part in FACTS}
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
    for column, kinds in report["mixed"].items():
        *few, (usual, _) = sorted(kinds.items(), key=lambda kind: (len(kind[1]), kind[0] == NUMBERS))
        told = "".join(f"{kind} in {listed(where)}, " for kind, where in few)
        words.append(f"column {column!r} holds {told}{usual} elsewhere.")
    for name, columns in report["odd"].items():
        words += [f"{name}: column {column!r} {why}." for column, why in columns.items()]
    words += [f"columns {first!r} and {second!r} are nearly the same." for first, second in copies[:MOST_COPIES]]
    more = len(copies) - MOST_COPIES
    return [*words, f"{more} more pairs of columns are nearly the same."] if more > 0 else words

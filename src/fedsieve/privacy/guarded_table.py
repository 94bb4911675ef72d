"""Columns that a site answers as if they were constant, since a few rows could be read off them.

A 0/1 column that one row has makes its line of any matrix of products that row; a code, a count and the difference of
two columns do the same. So at least `min_cell` rows must differ from a column's most frequent value, and from any other
column that it is a multiple of otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Rows
from fedsieve.tables import Table, dense, usual_value

ColumnRanges: TypeAlias = Mapping[str, tuple[float, float]]
"""Low and high of some columns."""
FEW_ROWS = "its values differ from the most frequent one in {n} row{s} only"
NEAR_COPY = "it differs from {other!r} in a few rows only"
FEW_IN_ALL = "a few rows of all sites together differ from their usual values"
RARE_CODES = "code{s} that fewer than {least} rows have: answered as the most frequent code"


@dataclass(frozen=True)
class HeldBack:
    """Columns answered as constant, nominal columns with codes that are replaced, and why: for the site alone."""

    constant: Mapping[str, float] = field(default_factory=dict)  # name -> the value that all rows seem to have
    replaced: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # name -> code as text -> code instead
    reasons: Mapping[str, str] = field(default_factory=dict)


class GuardedTable(Table):
    """A table whose risky columns cannot be told from constant ones; every message is computed from it."""

    def __init__(self, table: Table, held: HeldBack) -> None:
        self.names, self.n_rows, self.batch_rows = table.names, table.n_rows, table.batch_rows
        self.held, self.rows = held, table

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Rows with the values replaced; sparse rows stay sparse where nothing is."""
        rows = self.rows.read(columns, start, stop)
        changed = {*self.held.constant, *self.held.replaced}
        touched = [place for place, name in enumerate(columns) if name in changed]
        if not touched:
            return rows
        rows = dense(rows).copy()
        for place in touched:
            rows[:, place] = self._shown(columns[place], rows[:, place])
        return rows

    def _shown(self, name: str, values: Float) -> Float:
        if name in self.held.constant:
            return np.where(np.isnan(values), np.nan, self.held.constant[name])
        return _replaced(values, self.held.replaced[name])


def held_back(table: Table, nominal: Sequence[str], min_cell: int, ranges: ColumnRanges | None = None) -> HeldBack:
    """What to hold back of a table, so that no column and no difference of two tells of fewer than `min_cell` rows.

    `ranges` are those that a request clips columns to: what lies beyond counts as the nearest end.
    """
    if min_cell <= 1 or table.n_rows == 0:
        return HeldBack()
    X = dense(table.whole(table.names)).copy()
    for name, (low, high) in (ranges or {}).items():
        if name in table.names and low <= high:
            place = table.names.index(name)
            X[:, place] = np.clip(X[:, place], low, high)
    constant: dict[str, float] = {}
    replaced: dict[str, dict[str, float]] = {}
    reasons: dict[str, str] = {}
    coded = set(nominal)
    for place, name in enumerate(table.names):
        usual, n_others = usual_value(X[:, place])
        if 0 < n_others < min_cell:
            constant[name] = usual
            reasons[name] = FEW_ROWS.format(n=n_others, s="s" * (n_others > 1))
        elif name in coded and (codes := rare_codes(X[:, place], min_cell)):
            replaced[name] = codes
            reasons[name] = RARE_CODES.format(s="s" * (len(codes) > 1), least=min_cell)
            X[:, place] = _replaced(X[:, place], codes)
    for name, other in _copies(X, table.names, coded, constant, min_cell):
        if name not in constant and other not in constant:
            constant[name] = usual_value(X[:, table.names.index(name)])[0]
            reasons[name] = NEAR_COPY.format(other=other)
    return HeldBack(constant, replaced, reasons)


def held_back_in_total(table: Table, left_out: Sequence[str], nominal: Sequence[str], min_cell: int) -> HeldBack:
    """What to hold back where only a total over all sites is told, which leaves out columns of all sites alike.

    Codes go by the site's own rows as ever: no total tells which of them are rare everywhere.
    """
    constant = {name: usual_value(_column(table, name))[0] for name in left_out}
    coded = [name for name in nominal if name not in constant and min_cell > 1]
    codes = {name: rare for name in coded if (rare := rare_codes(_column(table, name), min_cell))}
    return HeldBack(
        constant,
        codes,
        {
            **dict.fromkeys(constant, FEW_IN_ALL),
            **{name: RARE_CODES.format(s="s" * (len(rare) > 1), least=min_cell) for name, rare in codes.items()},
        },
    )


def _column(table: Table, name: str) -> Float:
    column: Float = dense(table.whole((name,)))[:, 0]
    return column


def rare_codes(values: Float, min_cell: int) -> dict[str, float]:
    """Codes that fewer than `min_cell` rows have, as text, and the most frequent code, which stands for them."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return {repr(float(code)): usual_value(values)[0] for code in distinct[counts < min_cell]}


def _replaced(values: Float, codes: Mapping[str, float]) -> Float:
    for code, instead in codes.items():
        values = np.where(values == float(code), instead, values)
    return values


def _copies(
    X: Float, names: Sequence[str], coded: set[str], constant: Mapping[str, float], min_cell: int
) -> list[tuple[str, str]]:
    """Near copies, each with the column before it that it is a copy of; every code is a 0/1 column of its own."""
    columns, owner = [], []
    for name, column in zip(names, X.T, strict=True):
        if name in constant or np.isnan(column).any():
            continue
        parts = [(column == code).astype(np.float64) for code in np.unique(column)] if name in coded else [column]
        columns += parts
        owner += [name] * len(parts)
    if not columns:
        return []
    pairs = kernels.near_copies(np.column_stack(columns), min_cell - 1)
    return [(owner[second], owner[first]) for first, second in pairs if owner[first] != owner[second]]

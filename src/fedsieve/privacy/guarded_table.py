"""Columns that a site answers as if they were constant, since a few rows could be read off them.

A 0/1 column that one row has makes its line of any matrix of products that row; a code, a count and the difference of
two columns do the same. So at least `min_cell` rows must differ from a column's most frequent value, and from any other
column that it is a multiple of otherwise; and no bin, and no change of ranges from run to run, may tell of fewer. The
same holds among rows that are new since an earlier answer, which subtraction tells from all others. What is missing
tells rows apart as well: so many rows must miss a value, and so many have one, or none seems to be missing; and where a
column is a multiple of another one as long as it has values, so many of the others must differ in that one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Rows
from fedsieve.privacy.views import Views, in_bins, tells_few_apart
from fedsieve.tables import ArrayTable, Table, dense, usual_value

ColumnRanges: TypeAlias = Mapping[str, tuple[float, float]]
"""Low and high of some columns."""
FEW_ROWS = "its values differ from the most frequent one in {n} row{s} only"
FEW_APART = "its bins, or its ranges of several runs, tell a few rows from all others"
FEW_NEW = "it would tell of a few of the rows that are new since an earlier answer"
FEW_MISSING = "missing in {n} row{s} only: answered as a usual value"
FEW_PRESENT = "not missing in {n} row{s} only"
NEAR_COPY = "it differs from {other!r} in a few rows only"
FEW_IN_ALL = "a few rows of all sites together differ from their usual values, miss one, or have one"
CLOSE = 1e-9  # to 1: the correlation of columns that are multiples of each other
RARE_CODES = "code{s} that fewer than {least} rows have: answered as the most frequent code"


@dataclass(frozen=True)
class HeldBack:
    """Columns answered as constant, codes that are replaced, missing values filled in, and why: for the site alone."""

    constant: Mapping[str, float] = field(default_factory=dict)  # name -> the value that all rows seem to have
    replaced: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # name -> code as text -> code instead
    filled: Mapping[str, float] = field(default_factory=dict)  # name -> the value instead of missing ones
    reasons: Mapping[str, str] = field(default_factory=dict)


class GuardedTable(Table):
    """A table whose risky columns cannot be told from constant ones; every message is computed from it."""

    def __init__(self, table: Table, held: HeldBack) -> None:
        self.names, self.n_rows, self.batch_rows = table.names, table.n_rows, table.batch_rows
        self.held, self.rows = held, table

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Rows with the values replaced; sparse rows stay sparse where nothing is."""
        rows = self.rows.read(columns, start, stop)
        changed = {*self.held.constant, *self.held.replaced, *self.held.filled}
        touched = [place for place, name in enumerate(columns) if name in changed]
        if not touched:
            return rows
        rows = dense(rows).copy()
        for place in touched:
            rows[:, place] = self._shown(columns[place], rows[:, place])
        return rows

    def _shown(self, name: str, values: Float) -> Float:
        if name in self.held.constant:
            values = np.where(np.isnan(values), np.nan, self.held.constant[name])
        values = _replaced(values, self.held.replaced.get(name, {}))
        return np.where(np.isnan(values), self.held.filled.get(name, np.nan), values)


def held_back(
    table: Table,
    nominal: Sequence[str],
    min_cell: int,
    ranges: ColumnRanges | None = None,
    views: Views | None = None,
    new: Sequence[Bool] = (),
) -> HeldBack:
    """What to hold back of a table, so that no column and no difference of two tells of fewer than `min_cell` rows.

    `ranges` are those that a request clips columns to: what lies beyond counts as the nearest end. `views` are all that
    were had of columns so far, that of the request last. `new` are the rows that are none of an earlier answer's, for
    each of these.
    """
    if min_cell <= 1 or table.n_rows == 0:
        return HeldBack()
    X = dense(table.whole(table.names)).copy()
    place_of = {name: place for place, name in enumerate(table.names)}
    seen = {name: some for name, some in (views or {}).items() if name in place_of}
    apart = {name for name, some in seen.items() if tells_few_apart(X[:, place_of[name]], some, min_cell)}
    binned = {name: some[-1] for name, some in seen.items() if some[-1].n_bins}
    last = {name: some[-1][:2] for name, some in seen.items()}  # of columns that this request leaves out, too
    for name, (low, high) in {**last, **(ranges or {})}.items():
        if name in place_of and low <= high:
            place = place_of[name]
            X[:, place] = np.clip(X[:, place], low, high)
    among_new = [held_back(ArrayTable(table.names, X[rows]), nominal, min_cell) for rows in new]
    constant: dict[str, float] = {}
    replaced: dict[str, dict[str, float]] = {}
    filled: dict[str, float] = {}
    reasons: dict[str, str] = {}
    usually: dict[str, float] = {}
    coded = set(nominal)
    for place, name in enumerate(table.names):
        present = X[~np.isnan(X[:, place]), place]
        if not len(present):
            continue
        n_present, n_missing = len(present), table.n_rows - len(present)
        usual, n_others = usual_value(present)
        usually[name] = usual
        if n_missing and n_present < min_cell:
            constant[name] = filled[name] = usual
            reasons[name] = _reason(FEW_PRESENT, n_present)
            continue
        if 0 < n_missing < min_cell:
            middle = float(np.quantile(present, 0.5, method="inverted_cdf"))  # one that occurs
            filled[name] = usual if name in coded else middle
            reasons[name] = _reason(FEW_MISSING, n_missing)
            X[:, place] = np.where(np.isnan(X[:, place]), filled[name], X[:, place])
        if 0 < n_others < min_cell:
            constant[name] = usual
            reasons[name] = _reason(FEW_ROWS, n_others)
        elif name in apart:
            constant[name] = usual
            reasons[name] = FEW_APART
        elif name in coded and (codes := rare_codes(present, min_cell)):
            replaced[name] = codes
            reasons[name] = RARE_CODES.format(s="s" * (len(codes) > 1), least=min_cell)
            X[:, place] = _replaced(X[:, place], codes)
        if name in binned and not np.isnan(X[:, place]).any():
            X[:, place] = in_bins(X[:, place], binned[name])
    hidden: set[str] = set()
    near = _copies(X, table.names, coded | set(binned), constant, min_cell)
    for name, other in (*near, *_copies_with_gaps(X, table.names, constant, min_cell)):
        if name not in hidden and other not in hidden:
            hidden.add(name)
            filled[name] = constant.setdefault(name, usually[name])
            reasons[name] = NEAR_COPY.format(other=other)
    for part in among_new:
        for name in part.reasons:
            if name not in constant:
                filled[name] = constant[name] = usually[name]
                reasons[name] = FEW_NEW
    return HeldBack(constant, replaced, filled, reasons)


def _reason(words: str, n: int) -> str:
    return words.format(n=n, s="s" * (n > 1))


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
        dict(constant),  # what is missing there, too
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
    """Near copies, each with the column before it that it is a copy of.

    Every code is a 0/1 column of its own, and so is which values are missing.
    """
    columns, owner = [], []
    for name, column in zip(names, X.T, strict=True):
        missing, parts = np.isnan(column), []
        if name not in constant:
            codes = np.unique(column[~missing]) if name in coded else ()
            parts = [np.where(missing, np.nan, column == code) for code in codes] if name in coded else [column]
        if missing.any():
            parts.append(missing.astype(np.float64))
        columns += parts
        owner += [name] * len(parts)
    if not columns:
        return []
    pairs = kernels.near_copies(np.column_stack(columns), min_cell - 1)
    return [(owner[second], owner[first]) for first, second in pairs if owner[first] != owner[second]]


def _copies_with_gaps(
    X: Float, names: Sequence[str], constant: Mapping[str, float], min_cell: int
) -> list[tuple[str, str]]:
    """Columns that miss values, each with one that it is a multiple of elsewhere and that has a few odd rows there.

    Whatever stands in for the missing values, and with the column that tells where they are, the difference of both is
    nil but in these rows.
    """
    found, gaps = [], np.isnan(X)
    for place in np.flatnonzero(gaps.any(axis=0) & ~gaps.all(axis=0)).tolist():
        missing = gaps[:, place]
        rest = X[~missing] - X[~missing].mean(axis=0)  # NaN where the other misses values, too
        length = np.sqrt((rest**2).sum(axis=0))
        cosine = np.abs(rest[:, place] @ rest) / np.maximum(length * length[place], np.finfo(np.float64).tiny)
        for other in np.flatnonzero(cosine > 1 - CLOSE).tolist():
            n_odd = usual_value(X[missing, other])[1]
            if other != place and names[other] not in constant and 0 < n_odd < min_cell:
                found.append((names[place], names[other]))
    return found

"""Columns that a site answers as if they were constant, since a few rows could be read off them.

A 0/1 column that one row has makes its line of any matrix of products that row; a code, a count and the difference of
two columns do the same. So at least `min_cell` rows must differ from a column's most frequent value, and from any other
column that it is a multiple of otherwise; and no bin, and no change of ranges from run to run, may tell of fewer. The
same holds among rows that are new since an earlier answer, which subtraction tells from all others. What is missing
tells rows apart as well: so many rows must miss a value, and so many have one, or none seems to be missing; and where a
column is a multiple of another one as long as it has values, so many of the others must differ in that one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.messages.base import View
from fedsieve.privacy.near_copies import Compared, copies_with_gaps, near_copies
from fedsieve.privacy.views import Views, in_bins, tells_few_apart
from fedsieve.sparse_rows import SparseColumns
from fedsieve.tables import ChosenRows, Sum, Table, compared_rows
from fedsieve.values import dense, is_sparse, present_values, usual_value

ColumnRanges: TypeAlias = Mapping[str, tuple[float, float]]
"""Low and high of some columns."""
FEW_ROWS = "its values differ from the most frequent one in {n} row{s} only"
FEW_APART = "its bins, or its ranges of several runs, tell a few rows from all others"
FEW_NEW = "it would tell of a few of the rows that are new since an earlier answer"
FEW_MISSING = "missing in {n} row{s} only: answered as a usual value"
FEW_PRESENT = "not missing in {n} row{s} only"
NEAR_COPY = "it differs from {other!r} in a few rows only"
FEW_IN_ALL = "a few rows of all sites together differ from their usual values, miss one, or have one"
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
        self.names, self.n_rows, self.streamed = table.names, table.n_rows, table.streamed
        self.batch_rows, self.sparse, self.seed = table.batch_rows, table.sparse, table.seed
        self.held, self.rows = held, table

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Rows with the values replaced; sparse rows stay sparse where nothing is."""
        return self._seen(columns, self.rows.read(columns, start, stop))

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """Those of the table, with the values replaced."""
        return (self._seen(columns, batch) for batch in self.rows.batches(columns, size))

    def rows_at(self, chosen: Int, columns: Sequence[str]) -> Rows:
        """Those of the table, which may know a shorter way to them."""
        return self._seen(columns, self.rows.rows_at(chosen, columns))

    def in_parts(self, answer: Callable[[Table], Sum]) -> Sum | None:
        """Each part is guarded where it lies."""
        held = self.held
        return self.rows.in_parts(lambda part: answer(GuardedTable(part, held)))

    def _seen(self, columns: Sequence[str], rows: Rows) -> Rows:
        changed = {*self.held.constant, *self.held.replaced, *self.held.filled}
        touched = [place for place, name in enumerate(columns) if name in changed]
        if not touched:
            return rows
        if is_sparse(rows):
            return self._seen_of_sparse(columns, touched, rows)
        rows = rows.copy()
        for place in touched:
            rows[:, place] = self._shown(columns[place], rows[:, place])
        return rows

    def _seen_of_sparse(self, columns: Sequence[str], touched: Sequence[int], rows: Rows) -> Rows:
        """The same, sparse; only where 0 is shown as another value, all rows of a column are stored."""
        from scipy import sparse

        by_column, full = SparseColumns.of_batches([rows]), {}
        entries = by_column.entries
        for place in touched:
            name, here = columns[place], by_column.within(place)
            if self._shown(name, np.zeros(1))[0] == 0:
                entries.data[here] = self._shown(name, entries.data[here])
            else:
                full[place] = self._shown(name, by_column.column(place))
                entries.data[here] = 0.0
        entries.eliminate_zeros()
        if full:
            at = np.tile(np.arange(rows.shape[0]), len(full)), np.repeat(list(full), rows.shape[0])
            entries = entries + sparse.csc_array((np.concatenate(list(full.values())), at), shape=rows.shape)
        return entries.tocsr()

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
    names, seen = table.names, {name: some for name, some in (views or {}).items() if name in table.names}
    binned = {name: some[-1] for name, some in seen.items() if some[-1].n_bins}
    last = {name: some[-1][:2] for name, some in seen.items()}  # of columns that this request leaves out, too
    clips = {name: ends for name, ends in {**last, **(ranges or {})}.items() if ends[0] <= ends[1]}
    among_new = [held_back(ChosenRows(table, rows), nominal, min_cell, clips) for rows in new]
    constant: dict[str, float] = {}
    replaced: dict[str, dict[str, float]] = {}
    filled: dict[str, float] = {}
    reasons: dict[str, str] = {}
    usually: dict[str, float] = {}
    few_present: set[str] = set()
    coded, some_rows = set(nominal), compared_rows(table)

    def clipped(name: str, values: Float) -> Float:
        return np.clip(values, *clips[name]) if name in clips else values

    def cells(place: int) -> Float:
        """As it is compared with others, by what was decided of it before."""
        name = names[place]
        if name in kept:
            return kept[name]
        values = clipped(name, stored.cells(place) if stored is not None else _column(table, name))
        if name in filled and name not in few_present:
            values = np.where(np.isnan(values), filled[name], values)
        values = _replaced(values, replaced.get(name, {}))
        if name in binned and not np.isnan(values).any():
            return in_bins(values, binned[name]).astype(np.float64)
        return values

    kept: dict[str, Float] = {}  # of a table in memory: that of another is read again
    stored = SparseColumns.of_batches(table.batches(names)) if table.sparse else None
    for place, name in enumerate(names):
        raw = stored.column(place) if stored is not None else _column(table, name)
        values = clipped(name, raw)
        present = present_values(values)
        if len(present):
            n_present, n_missing = len(present), table.n_rows - len(present)
            usual, n_others = usual_value(present)
            usually[name] = usual
            if n_missing and n_present < min_cell:
                constant[name] = filled[name] = usual
                reasons[name] = _reason(FEW_PRESENT, n_present)
                few_present.add(name)
            else:
                if 0 < n_missing < min_cell:
                    middle = float(np.quantile(present, 0.5, method="inverted_cdf"))  # one that occurs
                    filled[name] = usual if name in coded else middle
                    reasons[name] = _reason(FEW_MISSING, n_missing)
                if 0 < n_others < min_cell:
                    constant[name] = usual
                    reasons[name] = _reason(FEW_ROWS, n_others)
                elif name in seen and _apart(raw, some_rows, seen[name], min_cell):
                    constant[name] = usual
                    reasons[name] = FEW_APART
                elif name in coded and (codes := rare_codes(present, min_cell)):
                    replaced[name] = codes
                    reasons[name] = RARE_CODES.format(s="s" * (len(codes) > 1), least=min_cell)
        if not table.streamed:
            kept[name] = cells(place)
    compared = Compared(names, table.n_rows, cells, stored.rows if stored is not None else None, some_rows)
    hidden: set[str] = set()
    near = near_copies(compared, coded | set(binned), dict(constant), min_cell)
    for name, other in (*near, *copies_with_gaps(compared, dict(constant), min_cell)):
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


def _apart(values: Float, some_rows: Int | None, views: Sequence[View], min_cell: int) -> bool:
    """Whether the views tell a few rows apart, or a few of those that stand for all where rows are compared."""
    if tells_few_apart(values, views, min_cell):
        return True
    return some_rows is not None and tells_few_apart(values[some_rows], views, min_cell)


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

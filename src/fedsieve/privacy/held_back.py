"""Columns that a site answers as if they were constant, since a few rows could be read off them.

A 0/1 column that one row has makes its line of any matrix of products that row; a code, a count and the difference of
two columns do the same. So at least `min_cell` rows must differ from a column's most frequent value, and from any other
column that it is a multiple of otherwise; and no bin, and no change of ranges from run to run, may tell of fewer. The
same holds among rows that are new since an earlier answer, which subtraction tells from all others. What is missing
tells rows apart as well: so many rows must miss a value, and so many have one, or none seems to be missing; and where a
column is a multiple of another one as long as it has values, so many of the others must differ in that one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.privacy.column_looks import ColumnLook, column_of, look_at, parts_of
from fedsieve.privacy.near_copies import Compared, copies_with_gaps, near_copies
from fedsieve.privacy.streamed_copies import StreamedColumn, StreamedRows, streamed_copies
from fedsieve.privacy.streamed_gaps import streamed_copies_with_gaps
from fedsieve.privacy.views import Views, in_bins
from fedsieve.sparse_rows import SparseColumns
from fedsieve.tables import ChosenColumns, ChosenRows, Table, compared_rows
from fedsieve.value_counts import Parts, middle_of, usual_of
from fedsieve.values import dense

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
    seen = {name: some for name, some in (views or {}).items() if name in table.names}
    last = {name: some[-1][:2] for name, some in seen.items()}  # of columns that this request leaves out, too
    clips = {name: ends for name, ends in {**last, **(ranges or {})}.items() if ends[0] <= ends[1]}
    among_new = [held_back(ChosenRows(table, rows), nominal, min_cell, clips) for rows in new]
    columns = _Columns(table, nominal, min_cell, clips, seen)
    constant, filled, reasons, hidden = columns.constant, columns.filled, columns.reasons, set[str]()
    for name, other in list(columns.near_copies()):  # all, before anything more is held back
        if name not in hidden and other not in hidden:
            hidden.add(name)
            filled[name] = constant.setdefault(name, columns.usual(name))
            reasons[name] = NEAR_COPY.format(other=other)
    for part in among_new:
        for name in part.reasons:
            if name not in constant:
                filled[name] = constant[name] = columns.usual(name)
                reasons[name] = FEW_NEW
    return HeldBack(constant, columns.replaced, filled, reasons)


class _Columns:
    """What is decided of every column by itself, and the columns as they are compared with each other after that."""

    def __init__(self, table: Table, nominal: Sequence[str], min_cell: int, clips: ColumnRanges, views: Views) -> None:
        some_rows = compared_rows(table)
        self.constant: dict[str, float] = {}
        self.replaced: dict[str, dict[str, float]] = {}
        self.filled: dict[str, float] = {}
        self.reasons: dict[str, str] = {}
        self.usual = cache(self._usual)
        self._table, self._some_rows, self._min_cell, self._nominal = table, some_rows, min_cell, set(nominal)
        self._stored = SparseColumns.of_batches(table.batches(table.names)) if table.sparse else None
        self._looks = {
            name: ColumnLook(min_cell, clips.get(name), views.get(name, ()), coded=name in self._nominal)
            for name in table.names
        }
        look_at(table, list(self._looks.values()), some_rows, self._stored)
        for name, look in self._looks.items():
            if look.n_present:
                self._decide(name, look)
        self._gaps = {
            name
            for name, look in self._looks.items()
            if look.n_missing and (name not in self.filled or look.n_present < min_cell)
        }
        self._binned = {name: some[-1] for name, some in views.items() if some[-1].n_bins}

    def _decide(self, name: str, look: ColumnLook) -> None:
        if look.n_missing and look.n_present < self._min_cell:
            self.constant[name] = self.filled[name] = self.usual(name)
            self.reasons[name] = _reason(FEW_PRESENT, look.n_present)
            return
        if 0 < look.n_missing < self._min_cell:
            self.filled[name] = self.usual(name) if name in self._nominal else self._middle(name)
            self.reasons[name] = _reason(FEW_MISSING, look.n_missing)
        if 0 < look.others.n_others < self._min_cell:
            self.constant[name] = self.usual(name)
            self.reasons[name] = _reason(FEW_ROWS, look.others.n_others)
        elif self._tells_few_apart(name, look):
            self.constant[name] = self.usual(name)
            self.reasons[name] = FEW_APART
        elif rare := look.rare_codes(self._min_cell):
            self.replaced[name] = dict.fromkeys(rare, self.usual(name))
            self.reasons[name] = _rare_codes(rare, self._min_cell)

    def near_copies(self) -> Iterator[tuple[str, str]]:
        """Columns that differ from one before in a few rows, each with that one."""
        names, constant, coded = self._table.names, set(self.constant), self._nominal | set(self._binned)
        if not self._table.streamed:
            stored = self._stored.rows if self._stored is not None else None
            compared = Compared(names, self._table.n_rows, cache(self._cells), stored)
            yield from near_copies(compared, coded, constant, self._min_cell)
            yield from copies_with_gaps(compared, constant, self._min_cell)
            return
        some = np.arange(self._table.n_rows) if self._some_rows is None else self._some_rows
        rows = StreamedRows(self._table, some, [self._as_compared(name, name in coded) for name in names])
        yield from streamed_copies(rows, constant, self._min_cell)
        yield from streamed_copies_with_gaps(rows, constant, self._min_cell)

    def _as_compared(self, name: str, coded: bool) -> StreamedColumn:
        look, view, replaced = self._looks[name], self._binned.get(name), self.replaced.get(name, {})
        ends, codes = (look.low, look.high), {replaced.get(repr(code), code) for code in look.codes}
        if view is not None and look.n_present:
            ends, codes = (0.0, view.n_bins - 1.0), set(map(float, range(view.n_bins)))
        return StreamedColumn(
            name, *ends, name in self._gaps, sorted(codes) if coded else None, partial(self._seen, name)
        )

    def _cells(self, place: int) -> Float:
        """A column of a table in memory; of a sparse one its entries, and last the value of all other rows."""
        name = self._table.names[place]
        values = column_of(self._table, name) if self._stored is None else self._stored.cells(place)
        return self._seen(name, values)

    def _seen(self, name: str, values: Float) -> Float:
        """Values as they are compared with others', by what was decided of the column."""
        values = self._looks[name].clipped(values)
        if name in self.filled and name not in self._gaps:
            values = np.where(np.isnan(values), self.filled[name], values)
        values = with_codes_replaced(values, self.replaced.get(name, {}))
        if name not in self._binned:
            return values
        bins, known = np.full(len(values), np.nan), ~np.isnan(values)
        bins[known] = in_bins(values[known], self._binned[name])
        return bins

    def _usual(self, name: str) -> float:
        return usual_of(self._parts(name), self._table.n_rows).value

    def _middle(self, name: str) -> float:
        return middle_of(self._parts(name), self._table.n_rows, self._looks[name].n_present)

    def _parts(self, name: str, *, clipped: bool = True) -> Parts:
        """A column, some rows at a time."""
        look = self._looks[name]
        if self._stored is not None:
            stored, place = self._stored, self._table.names.index(name)
            parts: Parts = lambda: [stored.column(place)]  # noqa: E731
        else:
            parts = parts_of(self._table, name)
        return (lambda: map(look.clipped, parts())) if clipped else parts

    def _tells_few_apart(self, name: str, look: ColumnLook) -> bool:
        """Whether views do, or do so among the rows of a streamed table that are compared."""
        if look.groups is None or look.some_groups is None:
            return False
        table, some = self._table, self._some_rows
        return look.groups.has_few(self._parts(name, clipped=False), table.n_rows) or (
            some is not None
            and look.some_groups.has_few(lambda: [dense(table.rows_at(some, (name,)))[:, 0]], len(some))
        )


def held_back_in_total(table: Table, left_out: Sequence[str], nominal: Sequence[str], min_cell: int) -> HeldBack:
    """What to hold back where only a total over all sites is told, which leaves out columns of all sites alike.

    Codes go by the site's own rows as ever: no total tells which of them are rare everywhere.
    """
    constant = {name: usual_of(parts_of(table, name), table.n_rows).value for name in left_out}
    coded = [name for name in nominal if name not in constant and min_cell > 1]
    looks = [ColumnLook(min_cell, coded=True) for _ in coded]
    look_at(ChosenColumns(table, coded), looks)
    codes, reasons = {}, dict.fromkeys(constant, FEW_IN_ALL)
    for name, look in zip(coded, looks, strict=True):
        if rare := look.rare_codes(min_cell):
            usual = usual_of(parts_of(table, name), table.n_rows).value
            codes[name], reasons[name] = dict.fromkeys(rare, usual), _rare_codes(rare, min_cell)
    return HeldBack(constant, codes, dict(constant), reasons)  # filled is what is missing there, too


def with_codes_replaced(values: Float, codes: Mapping[str, float]) -> Float:
    """The same with some codes replaced by others."""
    for code, instead in codes.items():
        values = np.where(values == float(code), instead, values)
    return values


def _reason(words: str, n: int) -> str:
    return words.format(n=n, s="s" * (n > 1))


def _rare_codes(rare: Sequence[str], least: int) -> str:
    return RARE_CODES.format(s="s" * (len(rare) > 1), least=least)

"""Near copies among the columns of a table that is larger than memory: those that `near_copies` finds in memory.

A line is put through a few rows of each two columns that a sample of rows does not tell apart. Then the lines that
are near most rows of the sample are followed through the table at once. Two passes are enough, but for columns of which
few rows of the sample differ: rows that do are looked for, and read.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.tables import Table
from fedsieve.value_counts import usual_value
from fedsieve.values import dense

SAMPLED = 1 << 21  # values of rows that are held at a time: of many columns, fewer rows are compared first
LEAST_SAMPLED = 1 << 8  # rows
FOLLOWED = 1 << 20  # values that are held beside their lines at a time
FIRST_ROWS = 1 << 8  # through which lines are followed first
AS_IT_IS = np.inf  # in place of a code: the column itself; NaN: which values are missing
FEW_TOLD = 8  # times as many rows as must differ: a sample in which fewer do tells too little of a column


@dataclass(frozen=True)
class StreamedColumn:
    """A column as it is compared with others: its ends, whether values are missing, and its codes, if it has any."""

    name: str
    low: float
    high: float
    has_gaps: bool
    codes: Sequence[float] | None
    seen: Callable[[Float], Float]  # its values as they are compared, from those of the table

    @property
    def has_values(self) -> bool:
        """Whether any row has one."""
        return self.low <= self.high


@dataclass(frozen=True)
class StreamedRows:
    """A table, some rows of it, and its columns."""

    table: Table
    some: Int
    columns: Sequence[StreamedColumn]

    def batches(self) -> Iterator[Float]:
        """All rows, as they are compared."""
        return (self._seen(dense(batch)) for batch in self.table.batches(self.table.names))

    def at(self, rows: Int) -> Float:
        """Some rows, in order, as they are compared."""
        return self._seen(dense(self.table.rows_at(rows, self.table.names)))

    @cached_property
    def sample(self) -> Float:
        """The rows that are compared first."""
        n_parts = sum(2 if column.codes is None else len(column.codes) + 1 for column in self.columns)
        return self.at(self.some[:: -(-len(self.some) // max(LEAST_SAMPLED, SAMPLED // n_parts))])

    def _seen(self, rows: Float) -> Float:
        columns = zip(self.columns, rows.T, strict=True)
        return np.column_stack([column.seen(values) for column, values in columns])


class _Parts:
    """What is compared: columns, each code as a 0/1 column, and which values are missing."""

    def __init__(self, columns: Sequence[StreamedColumn], constant: Set[str]) -> None:
        owner: list[int] = []
        code: list[float] = []
        for place, column in enumerate(columns):
            if column.name not in constant and column.has_values:
                codes = [AS_IT_IS] if column.codes is None else column.codes
                owner, code = owner + [place] * len(codes), [*code, *codes]
            if column.has_gaps:
                owner, code = [*owner, place], [*code, np.nan]
        self.owner, self._code = np.array(owner, dtype=np.int64), np.array(code)
        whole = self._code == AS_IT_IS
        self.low = np.where(whole, [columns[place].low for place in owner], 0.0)
        self.high = np.where(whole, [columns[place].high for place in owner], 1.0)

    def of(self, rows: Float, chosen: Int | slice = slice(None)) -> Float:
        """Of rows as they are compared, those of the parts."""
        values, code = rows[:, self.owner[chosen]], self._code[chosen]
        tells_gaps, of_codes = np.isnan(code), np.isfinite(code)
        values[:, tells_gaps] = np.isnan(values[:, tells_gaps])
        coded = values[:, of_codes]
        values[:, of_codes] = np.where(np.isnan(coded), np.nan, coded == code[of_codes])
        return values


def streamed_copies(rows: StreamedRows, constant: Set[str], min_cell: int) -> Iterator[tuple[str, str]]:
    """Near copies, each with the column before it that it is a copy of."""
    parts, most = _Parts(rows.columns, constant), min_cell - 1
    if not len(parts.owner):
        return
    names = [column.name for column in rows.columns]
    for first, second in _followed(rows, parts, _lines(rows, parts, _alike(parts, rows.sample, most), most), most):
        yield names[parts.owner[second]], names[parts.owner[first]]


def _alike(parts: _Parts, sample: Float, most: int) -> dict[int, Int]:
    """For each part those before it that some rows do not tell it apart from, if there are any."""
    values = parts.of(sample)
    first, second = kernels.near_copies(values, most, exact=True, room=kernels.line_room(parts.low, parts.high)).T
    thin = np.array([tells_little(column, most + 1) for column in values.T])
    found = {}
    for part in range(len(thin)):
        others = thin[:part] | thin[part]
        others[first[second == part]] = True
        others &= parts.owner[:part] != parts.owner[part]
        if others.any():
            found[part] = np.flatnonzero(others)
    return found


def tells_little(values: Float, least: int) -> bool:
    """Whether few values of a sample differ from the usual one, or many are missing."""
    return usual_value(values).n_others <= FEW_TOLD * least or bool(np.isnan(values).mean() > 0.5)


@dataclass
class _Lines:
    """Lines x_first = start + slope x_second, in the order in which they are tried, and how many rows are off each."""

    first: Int
    second: Int
    slope: Float
    start: Float
    room: Float
    n_off: Int

    def __getitem__(self, chosen: Bool | Int) -> "_Lines":
        return _Lines(*(values[chosen] for values in vars(self).values()))


def _lines(rows: StreamedRows, parts: _Parts, alike: dict[int, Int], most: int) -> _Lines:
    """Through some pairs of rows that differ in the second part; those of slope 0 tell of no copy.

    Nearly all are off more rows of the sample than `most`: only the others are kept.
    """
    gaps = any(column.has_gaps for column in rows.columns)
    room = kernels.line_room(parts.low, parts.high)
    kept = [_Lines(*(np.zeros(0, dtype=kind) for kind in (int, int, float, float, float, int)))]
    for second, some, pairs in _rows_for_lines(rows, parts, list(alike), most, gaps=gaps):
        values = parts.of(some, np.append(alike[second], second))
        lines = _through(values, pairs, alike[second], second)
        keys = np.stack([lines.first, lines.slope, lines.start], axis=1)
        lines = lines[np.sort(np.unique(keys, axis=0, return_index=True)[1])]  # exact copies have one line only
        lines.room = room[lines.first] + np.abs(lines.slope) * room[second]
        kept.append(lines[_n_off(lines, parts, rows.sample[:FIRST_ROWS]) <= most])
    return _Lines(*(np.concatenate(some) for some in zip(*(vars(one).values() for one in kept), strict=True)))


def _through(values: Float, pairs: Int, first: Int, second: int) -> _Lines:
    """The lines of these parts with a second one, whose values are the last, through these pairs of rows."""
    low, high = values[pairs[:, 0]], values[pairs[:, 1]]
    slope = (high[:, :-1] - low[:, :-1]) / (high[:, [-1]] - low[:, [-1]])
    start = low[:, :-1] - slope * low[:, [-1]]
    tried, other = np.nonzero((slope != 0) & ~np.isnan(slope))
    nil = np.zeros(len(other))
    both = first[other], np.full(len(other), second)
    return _Lines(*both, slope[tried, other], start[tried, other], nil, nil.astype(np.int64))


def _n_off(lines: _Lines, parts: _Parts, rows: Float) -> Int:
    """How many of these rows are off each line."""
    found = np.zeros(len(lines.first), dtype=np.int64)
    for start in range(0, len(found), FOLLOWED // FIRST_ROWS):
        here = slice(start, start + FOLLOWED // FIRST_ROWS)
        x, y = (parts.of(rows, which[here]) for which in (lines.second, lines.first))
        off = np.abs(y - lines.start[here] - lines.slope[here] * x) > lines.room[here]
        found[here] = np.count_nonzero(off, axis=0)
    return found


def _rows_for_lines(
    rows: StreamedRows, parts: _Parts, wanted: Sequence[int], most: int, *, gaps: bool
) -> Iterator[tuple[int, Float, Int]]:
    """Each part that varies with some rows, as they are compared, and which pairs of these lines go through.

    They are of the sample or, where too few of it differ in the part, of the whole table.
    """
    usual, enough = dict[int, float](), len(kernels.line_anchors(np.zeros(0), most, gaps=gaps))
    for part in wanted:
        values = parts.of(rows.sample, np.array([part]))[:, 0]
        pairs = kernels.line_anchors(values, most, gaps=gaps)
        if pairs[0, 0] >= 0 and len(np.unique(pairs, axis=0)) == enough:
            used = np.unique(pairs)
            yield part, rows.sample[used], np.searchsorted(used, pairs)
        else:
            usual[part] = usual_value(values).value
    chosen = _rows_that_differ(rows, parts, usual, enough)
    at_once = max(1, SAMPLED // (4 * enough * len(rows.columns)))
    for start in range(0, len(chosen), at_once):
        some = list(chosen)[start : start + at_once]
        every = np.unique(np.concatenate([chosen[part] for part in some]))
        values = rows.at(every)
        for part in some:
            here = values[np.searchsorted(every, chosen[part])]
            pairs = kernels.line_anchors(parts.of(here, np.array([part]))[:, 0], most, gaps=gaps)
            if pairs[0, 0] >= 0:
                yield part, here, pairs


class _Spread:
    """Some rows out of many, spread over all of them: at least `enough`, if there are so many."""

    def __init__(self, enough: int) -> None:
        self.rows = np.zeros(0, dtype=np.int64)
        self._most, self._step, self._passed = 2 * enough, 1, 0

    def add(self, rows: Int) -> None:
        self.rows = np.append(self.rows, rows[-self._passed % self._step :: self._step])
        self._passed += len(rows)
        while len(self.rows) > self._most:
            self.rows, self._step = self.rows[::2], 2 * self._step


def _rows_that_differ(rows: StreamedRows, parts: _Parts, usual: dict[int, float], enough: int) -> dict[int, Int]:
    """Of some parts rows that have their usual value, and rows that have another one."""
    found = {part: (_Spread(enough), _Spread(enough)) for part in usual}
    start = 0
    for batch in rows.batches() if usual else ():
        for part, (same, others) in found.items():
            values = parts.of(batch, np.array([part]))[:, 0]
            known = ~np.isnan(values)
            if np.isnan(usual[part]) and known.any():
                usual[part] = float(values[known][0])
            same.add(start + np.flatnonzero(values == usual[part]))
            others.add(start + np.flatnonzero(known & (values != usual[part])))
        start += len(batch)
    return {part: np.sort(np.concatenate([same.rows, others.rows])) for part, (same, others) in found.items()}


def _followed(rows: StreamedRows, parts: _Parts, lines: _Lines, most: int) -> Iterator[tuple[int, int]]:
    """The two parts of which all rows but 1 to `most` lie on the first of their lines that few rows are off."""
    n_rows = FIRST_ROWS
    for batch in rows.batches():
        start = 0
        while start < len(batch) and len(lines.first):
            some = batch[start : start + min(n_rows, max(FIRST_ROWS, FOLLOWED // len(lines.first)))]
            start, n_rows = start + len(some), min(4 * n_rows, FOLLOWED)
            lines.n_off += _n_off(lines, parts, some)
            lines = lines[lines.n_off <= most]
        if not len(lines.first):
            return
    decided = set[tuple[int, int]]()
    for second, first, n_off in sorted(zip(lines.second, lines.first, range(len(lines.n_off)), strict=True)):
        pair = int(first), int(second)
        if pair not in decided:
            decided.add(pair)
            if lines.n_off[n_off]:
                yield pair

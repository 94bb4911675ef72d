"""Columns that differ from a multiple of another one in a few rows only: what such a difference tells is those rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.copy_sketches import ALIKE, sketches
from fedsieve.sparse_rows import SparseRows

SPARE = 4  # times as many pairs of rows, twice, where values are missing, since those of the other column may be
CLOSE = 1e-9  # relative to the column's spread: what rounding may leave between copies


def near_copies(X: Float | SparseRows, most: int, *, exact: bool = False, room: Float | None = None) -> Int:
    """Pairs (p, q), p < q, with x_p = a + b x_q, b not 0, in all rows but 1 to `most`; (n_pairs, 2).

    Exact copies are none, unless asked for: their difference tells nothing. Rows in which one of the two is missing
    (NaN) do not count. Of sparse rows only entries are compared. `room` is what rounding may leave, where these rows
    are some of a table whose columns have other ends.

    >>> x = np.arange(12.0)
    >>> near_copies(np.column_stack([x, 5 - 2 * x, np.where(x == 3, 99, x), x**2]), 4)
    array([[0, 2],
           [1, 2]])
    """
    least = 0 if exact else 1
    if 0 in X.shape:
        return np.empty((0, 2), dtype=np.int64)
    if isinstance(X, SparseRows):
        by_column = X.by_column()
        anchors, room = _looked_at(by_column, X.entries.data, most)
        rows, columns = ((one.indptr, one.indices) for one in (X.entries, by_column.entries))
        return _near_pairs_of_sparse(*rows, *columns, by_column.entries.data, X.usual, anchors, least, most, room)
    table = np.asfortranarray(X, dtype=np.float64)
    anchors, own_room = _looked_at(table.T, table, most)
    room = own_room if room is None else room
    return _near_pairs(table, anchors, least, most, room, ALIKE, *sketches(table, room, most))


def line_anchors(column: Float, most: int, *, gaps: bool) -> Int:
    """Disjoint pairs of rows that differ in this column; with one pair more than bad rows, one pair is good.

    Half the rows lie between the two of a pair, in order; of a value that most rows have, one of these is paired with
    each other row. Where a column is nearly constant there are fewer pairs: the last one stands for those missing.
    Where the table has `gaps` there are more, and as many are drawn: another column may miss all rows of one value.
    """
    n_pairs = (most + 1) * (SPARE if gaps else 1)
    present = np.flatnonzero(~np.isnan(column))
    _, place, counts = np.unique(column[present], return_inverse=True, return_counts=True)
    usual = place == np.argmax(counts) if len(present) else np.zeros(0, dtype=bool)
    if 2 * np.count_nonzero(usual) > len(present):
        first, second = present[~usual], present[usual]
    else:
        order, half = present[np.argsort(column[present], kind="stable")], len(present) // 2
        first, second = order[:half], order[half : 2 * half]
    pairs = _filled_up(_spread(first, second, n_pairs), n_pairs)
    if not gaps:
        return pairs
    drawn = np.random.default_rng(0).permutation(present)
    first, second = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :][: len(drawn) // 2]
    differ = column[first] != column[second]
    return np.concatenate([pairs, _filled_up(_spread(first[differ], second[differ], n_pairs), n_pairs, pairs[-1:])])


def _spread(first: Int, second: Int, most: int) -> Int:
    """Pairs of the two, evenly out of all there are."""
    n = min(len(first), len(second), most)
    return np.stack([some[np.arange(n) * len(some) // max(n, 1)] for some in (first, second)], axis=1)


def _filled_up(pairs: Int, n_pairs: int, otherwise: Int | None = None) -> Int:
    """So many, the last of which stands for those that there are not; where there are none, -1 does, or a pair."""
    if not len(pairs):
        pairs = np.full((1, 2), -1, dtype=np.int64) if otherwise is None else otherwise
    return np.concatenate([pairs, np.repeat(pairs[-1:], n_pairs - len(pairs), axis=0)])


def line_room(low: Float, high: Float) -> Float:
    """What rounding may leave between a line and copies of columns that have these ends."""
    room: Float = CLOSE * (high - low) + 4 * np.spacing(np.fmax(np.abs(low), np.abs(high)))
    return room


def _looked_at(columns: Iterable[Float], values: Float, most: int) -> tuple[Int, Float]:
    """Of each column pairs of rows to put a line through, and what rounding may leave."""
    gaps = bool(np.isnan(values).any())
    anchors, ends = [], []
    for column in columns:
        anchors.append(line_anchors(column, most, gaps=gaps))
        ends.append((np.fmin.reduce(column), np.fmax.reduce(column)))
    return np.array(anchors, dtype=np.int64), line_room(*np.array(ends).T)


@compiled
def _near_pairs(
    X: Float,
    anchors: Int,
    least: int,
    most: int,
    room: Float,
    alike: float,
    order: Int,
    place: Int,
    angles: Float,
    unlike: Bool,
) -> Int:
    n_rows, n_columns = X.shape
    found = []
    every, like_any = np.arange(n_columns), np.flatnonzero(unlike)
    seen, some = np.zeros(n_columns, dtype=np.bool_), np.empty(n_columns, dtype=np.int64)
    for q in range(n_columns):
        if anchors[q, 0, 0] < 0:
            continue
        others = every[:q]
        if not unlike[q]:
            n_some = 0
            for p in like_any:
                if p < q:
                    some[n_some], n_some = p, n_some + 1
            for triple in range(len(order)):
                own = place[triple, q]
                for way in (-1, 1):
                    other = own + way
                    while (
                        own >= 0
                        and 0 <= other < n_columns
                        and abs(angles[triple, other] - angles[triple, own]) <= alike
                    ):
                        p = order[triple, other]
                        if p < q and not unlike[p] and not seen[p]:
                            seen[p] = True
                            some[n_some], n_some = p, n_some + 1
                        other += way
            others = np.sort(some[:n_some])
            seen[others] = False
        for p in others:
            for pair in range(anchors.shape[1]):
                i, j = anchors[q, pair, 0], anchors[q, pair, 1]
                slope = (X[j, p] - X[i, p]) / (X[j, q] - X[i, q])
                if slope == 0.0 or np.isnan(slope):  # NaN: missing in p
                    continue
                start = X[i, p] - slope * X[i, q]
                close = room[p] + abs(slope) * room[q]
                n_off = 0
                for row in range(n_rows):
                    if abs(X[row, p] - start - slope * X[row, q]) > close:
                        n_off += 1
                        if n_off > most:
                            break
                if n_off <= most:
                    if n_off >= least:
                        found.append((p, q))
                    break
    return _as_array(found)


@compiled
def _near_pairs_of_sparse(
    row_ends: Int,
    places: Int,
    ends: Int,
    rows: Int,
    values: Float,
    usual: Float,
    anchors: Int,
    least: int,
    most: int,
    room: Float,
) -> Int:
    """The same pairs: a column without an entry in the anchors of another is flat there, and no copy of it."""
    n_rows, n_columns = len(row_ends) - 1, len(ends) - 1
    found = []
    varies = np.zeros(n_columns, dtype=np.bool_)
    for q in range(n_columns):
        if anchors[q, 0, 0] < 0:
            continue
        varies[:q] = False
        for row in anchors[q].flat:
            for place in places[row_ends[row] : row_ends[row + 1]]:
                varies[place] = True
        of_q = slice(ends[q], ends[q + 1])
        for p in np.flatnonzero(varies[:q]):
            of_p = slice(ends[p], ends[p + 1])
            for pair in range(anchors.shape[1]):
                i, j = anchors[q, pair, 0], anchors[q, pair, 1]
                at_i = _value(rows[of_p], values[of_p], usual[p], i)
                x_i = _value(rows[of_q], values[of_q], usual[q], i)
                rise = _value(rows[of_p], values[of_p], usual[p], j) - at_i
                slope = rise / (_value(rows[of_q], values[of_q], usual[q], j) - x_i)
                if slope == 0.0 or np.isnan(slope):  # NaN: missing in p
                    continue
                start = at_i - slope * x_i
                close = room[p] + abs(slope) * room[q]
                n_off, n_usual, k, m = 0, n_rows, ends[p], ends[q]
                while (k < ends[p + 1] or m < ends[q + 1]) and n_off <= most:
                    row_p = rows[k] if k < ends[p + 1] else n_rows
                    row_q = rows[m] if m < ends[q + 1] else n_rows
                    x, y = usual[q], usual[p]
                    if row_p <= row_q:
                        y, k = values[k], k + 1
                    if row_q <= row_p:
                        x, m = values[m], m + 1
                    n_usual -= 1
                    n_off += abs(y - start - slope * x) > close
                if abs(usual[p] - start - slope * usual[q]) > close:
                    n_off += n_usual
                if n_off <= most:
                    if n_off >= least:
                        found.append((p, q))
                    break
    return _as_array(found)


@compiled
def _value(rows: Int, values: Float, usual: float, row: int) -> float:
    place = np.searchsorted(rows, row)
    value: float = values[place] if place < len(rows) and rows[place] == row else usual
    return value


@compiled
def _as_array(found: list[Any]) -> Int:
    pairs = np.empty((len(found), 2), dtype=np.int64)
    for place in range(len(found)):
        pairs[place, 0], pairs[place, 1] = found[place]
    return pairs

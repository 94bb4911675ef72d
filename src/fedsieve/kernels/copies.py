"""Columns that differ from a multiple of another one in a few rows only: what such a difference tells is those rows."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled

SPARE = 8  # times as many pairs of rows where values are missing, since those of the other column may be
CLOSE = 1e-9  # relative to the column's spread: what rounding may leave between copies


def near_copies(X: Float, most: int) -> Int:
    """Pairs (p, q), p < q, with x_p = a + b x_q, b not 0, in all rows but 1 to `most`; (n_pairs, 2).

    Exact copies are none: their difference tells nothing. Rows in which one of the two is missing (NaN) do not count.

    >>> x = np.arange(12.0)
    >>> near_copies(np.column_stack([x, 5 - 2 * x, np.where(x == 3, 99, x), x**2]), 4)
    array([[0, 2],
           [1, 2]])
    """
    table = np.asfortranarray(X, dtype=np.float64)
    if not table.size:
        return np.empty((0, 2), dtype=np.int64)
    n_anchors = (most + 1) * (SPARE if np.isnan(table).any() else 1)
    anchors = np.array([_anchors(column, n_anchors) for column in table.T], dtype=np.int64)
    low, high = np.fmin.reduce(table, axis=0), np.fmax.reduce(table, axis=0)
    room = CLOSE * (high - low) + 4 * np.spacing(np.fmax(np.abs(low), np.abs(high)))
    return _near_pairs(table, anchors.reshape(-1, n_anchors, 2), most, room)


def _anchors(column: Float, n_pairs: int) -> Int:
    """Disjoint pairs of rows that differ in this column; with one pair more than bad rows, one pair is good.

    Half the rows lie between the two of a pair, in order; of a value that most rows have, one of these is paired with
    each other row. Where a column is nearly constant there are fewer pairs: the last one stands for those missing.
    """
    present = np.flatnonzero(~np.isnan(column))
    _, place, counts = np.unique(column[present], return_inverse=True, return_counts=True)
    usual = place == np.argmax(counts) if len(present) else np.zeros(0, dtype=bool)
    if 2 * np.count_nonzero(usual) > len(present):
        first, second = present[~usual], present[usual]
    else:
        order, half = present[np.argsort(column[present], kind="stable")], len(present) // 2
        first, second = order[:half], order[half : 2 * half]
    n = min(len(first), len(second), n_pairs)
    pairs = np.stack([first[:n], second[:n]], axis=1)
    if not len(pairs):
        return np.full((n_pairs, 2), -1, dtype=np.int64)
    return np.concatenate([pairs, np.repeat(pairs[-1:], n_pairs - len(pairs), axis=0)])


@compiled
def _near_pairs(X: Float, anchors: Int, most: int, room: Float) -> Int:
    n_rows, n_columns = X.shape
    found = []
    for q in range(n_columns):
        if anchors[q, 0, 0] < 0:
            continue
        for p in range(q):
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
                    if n_off > 0:
                        found.append((p, q))
                    break
    pairs = np.empty((len(found), 2), dtype=np.int64)
    for place in range(len(found)):
        pairs[place, 0], pairs[place, 1] = found[place]
    return pairs

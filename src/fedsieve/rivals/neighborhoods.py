"""Neighborhoods in a growing set of features, and the forward search that grows it.

Sample j is a neighbor of i in the features S if the Euclidean distance over S is at most the radius of i (i is its own
neighbor). The squared distances over S are kept; for every candidate f at once, the neighbors in S + f are counted
without an n x n matrix per candidate. A neighbor in S + f is one in S, so others are never looked at. Where all
features are 0/1 a difference in f adds exactly 1: the counts are set bits of words.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.bits import popcount
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import in_order
from fedsieve.rivals.picking import best_of

Words = NDArray[np.uint64]

TOLERANCE = 1e-9  # in the distance: samples at the radius itself are neighbors, however their squares were added
NOISE = 1e-10  # in an increase of a criterion
PART = 32  # samples that a thread takes at a time


def forward(
    eligible: Bool,
    criteria: Callable[[Int], Sequence[Float]],
    start: Sequence[float],
    ties: Sequence[Float],
    add: Callable[[int], None],
    enough: Callable[[Float], bool],
) -> tuple[list[int], Sequence[Float]]:
    """Features picked one by one, until the next pick's increases are `enough` to stop; and the first criteria.

    `criteria(features)` values S + f for each f of `features`, one array for each criterion, the first decides; then
    the next, then `ties` (values of all features), then the smaller index. `start` are the criteria without features.
    """
    left, current = eligible.copy(), np.array(start)
    picked: list[int] = []
    alone: Sequence[Float] = ()
    while left.any():
        features = np.flatnonzero(left)
        values = criteria(features)
        alone = alone or values
        best = best_of(np.ones(len(features), dtype=bool), *values, *(tie[features] for tie in ties))
        reached = np.array([value[best] for value in values])
        if enough(reached - current):
            break
        current = reached
        picked.append(int(features[best]))
        left[picked[-1]] = False
        add(picked[-1])
    return picked, alone


def followed_by(picked: list[int], others: Int) -> Int:
    """The picked features, then the rest of them in the order of `others`.

    >>> followed_by([2], np.array([0, 2, 1]))
    array([2, 0, 1])
    """
    return np.array([*picked, *(f for f in others.tolist() if f not in set(picked))], dtype=np.int64)


class Neighborhoods:
    """Who is whose neighbor in the features added so far; no feature at first, when all samples are neighbors.

    `rows` is scaled (n_samples, n_features), `radii` one for each sample.
    """

    def __init__(self, rows: Float, radii: Float) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.binary = bool(((rows == 0) | (rows == 1)).all())
        self.limits: Float = (radii + TOLERANCE) ** 2
        self.squares = np.zeros((len(rows), len(rows)))

    def add(self, feature: int) -> None:
        """Let one more feature take part in the distances."""
        column = self.rows[:, feature].copy()
        self.by_parts(lambda first, last: _add_squares(column, first, last, self.squares))

    def counts(self, inside: Bool, features: Int) -> tuple[Int, Int]:
        """For S + f, each f of `features`: neighbors of each sample i, and those with inside[i, j]. Both (n, m)."""
        shape = len(self.rows), len(features)
        within, without = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        rows = np.ascontiguousarray(self.rows[:, features])
        if self.binary:
            columns, values = packed(rows.T), rows > 0

            def work(first: int, last: int) -> None:
                _count_bits(columns, values, self.squares, self.limits, inside, first, last, within, without)
        else:

            def work(first: int, last: int) -> None:
                _count_values(rows, self.squares, self.limits, inside, first, last, within, without)

        self.by_parts(work)
        return within + without, within

    def by_parts(self, work: Callable[[int, int], None]) -> None:
        """Run `work(first, last)` for all samples, in parts, on all threads."""
        n_rows = len(self.rows)
        for _ in in_order(lambda first: work(first, min(first + PART, n_rows)), range(0, n_rows, PART)):
            pass


def packed(table: NDArray[np.float64]) -> Words:
    """Each line of a 0/1 table as bits of 64-bit words, the first in the lowest bit."""
    n_lines, length = table.shape
    padded = np.zeros((n_lines, -(-length // 64) * 64), dtype=bool)
    padded[:, :length] = table > 0
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def carries_all(Y: Float) -> Bool:
    """(n, n): whether sample j carries every label that sample i carries."""
    carried: Bool = Y.sum(axis=1)[:, None] <= Y @ Y.T
    return carried


@compiled
def _add_squares(column: Float, first: int, last: int, squares: Float) -> None:
    for i in range(first, last):
        x, sums = column[i], squares[i]
        for j in range(len(column)):
            difference = x - column[j]
            sums[j] += difference * difference


@compiled
def _count_values(
    rows: Float, squares: Float, limits: Float, inside: Bool, first: int, last: int, within: Int, without: Int
) -> None:
    n_rows, n_features = rows.shape
    for i in range(first, last):
        x, limit = rows[i], limits[i]
        for j in range(n_rows):
            square = squares[i, j]
            if square <= limit:
                y, counts = rows[j], within[i] if inside[i, j] else without[i]
                for f in range(n_features):
                    difference = x[f] - y[f]
                    counts[f] += np.int64(square + difference * difference <= limit)


@compiled
def _count_bits(
    columns: Words,
    values: Bool,
    squares: Float,
    limits: Float,
    inside: Bool,
    first: int,
    last: int,
    within: Int,
    without: Int,
) -> None:
    n_features, n_words = columns.shape
    edge = np.empty((2, n_words), dtype=np.uint64)  # neighbors that leave when they differ in f
    n_edge, n_nearer = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.int64)
    for i in range(first, last):
        limit = limits[i]
        edge[:] = 0
        n_edge[:] = 0
        n_nearer[:] = 0
        for j in range(len(squares)):
            if squares[i, j] <= limit:
                side = int(inside[i, j])
                if squares[i, j] + 1.0 <= limit:
                    n_nearer[side] += 1
                else:
                    n_edge[side] += 1
                    edge[side, j // 64] |= np.uint64(1) << np.uint64(j % 64)
        for side in range(2):
            counts = within[i] if side == 1 else without[i]
            counts[:] = n_nearer[side]
            if n_edge[side] > 0:
                for f in range(n_features):
                    ones = 0
                    for w in range(n_words):
                        ones += popcount(edge[side, w] & columns[f, w])
                    counts[f] += ones if values[i, f] else n_edge[side] - ones

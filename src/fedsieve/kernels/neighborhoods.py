"""Neighborhoods in a growing set of features: how many neighbors each sample has, and where they agree in labels.

Sample j is a neighbor of i in the features S if the Euclidean distance over S is at most the radius of i (i is its own
neighbor). The squared distances over S are kept; for every candidate f at once, the neighbors in S + f are counted
without an n x n matrix per candidate. A neighbor in S + f is one in S, so others are never looked at. Where all
features are 0/1 a difference in f adds exactly 1: the counts are set bits of words.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled, popcount
from fedsieve.kernels.threads import parallel_map

Words = NDArray[np.uint64]

TOLERANCE = 1e-9  # in the distance: samples at the radius itself are neighbors, however their squares were added
PART = 32  # samples that a thread takes at a time


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
        for _ in parallel_map(lambda first: work(first, min(first + PART, n_rows)), range(0, n_rows, PART)):
            pass


def packed(table: NDArray[np.float64]) -> Words:
    """Each line of a 0/1 table as bits of 64-bit words, the first in the lowest bit."""
    n_lines, length = table.shape
    padded = np.zeros((n_lines, -(-length // 64) * 64), dtype=bool)
    padded[:, :length] = table > 0
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


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


def agreements(near: Neighborhoods, Y: Float, features: Int) -> Int:
    """For S + f, each f of `features`: the pairs (sample, label) with which all neighbors of the sample agree."""
    labels, n_labels = packed(Y), Y.shape[1]
    rows = np.ascontiguousarray(near.rows[:, features])
    bits = packed(rows)
    every = packed(np.ones((1, len(features))))[0]
    total = np.zeros((len(rows), len(features)), dtype=np.int64)

    def work(first: int, last: int) -> None:
        _agree(rows, bits, near.binary, near.squares, near.limits, labels, n_labels, every, first, last, total)

    near.by_parts(work)
    sums: Int = total.sum(axis=0)
    return sums


@compiled
def _agree(
    rows: Float,
    bits: Words,
    binary: bool,
    squares: Float,
    limits: Float,
    labels: Words,
    n_labels: int,
    every: Words,
    first: int,
    last: int,
    total: Int,
) -> None:
    """Add the labels of sample i to total[i, f] for which f removes all neighbors that disagree.

    `removing[l]` has a bit for each such f so far, `open_` a bit for each label that has some.
    """
    n_samples, n_words = labels.shape
    none, one = np.uint64(0), np.uint64(1)
    removing = np.empty((64 * n_words, len(every)), dtype=np.uint64)
    open_, removed = np.empty(n_words, dtype=np.uint64), np.empty(len(every), dtype=np.uint64)
    for i in range(first, last):
        for line in removing:
            for v in range(len(every)):
                line[v] = every[v]
        for w in range(n_words):
            open_[w] = ~none
        limit = limits[i]
        for j in range(n_samples):
            square = squares[i, j]
            if square > limit:
                continue
            disagree = none
            for w in range(n_words):
                disagree |= (labels[i, w] ^ labels[j, w]) & open_[w]
            if disagree == none:
                continue
            _removing(rows[i], rows[j], bits[i], bits[j], binary, square, limit, removed)
            for w in range(n_words):
                disagree = (labels[i, w] ^ labels[j, w]) & open_[w]
                while disagree != none:
                    lowest = disagree & (~disagree + one)
                    line = removing[64 * w + popcount(lowest - one)]
                    some = none
                    for v in range(len(every)):
                        line[v] &= removed[v]
                        some |= line[v]
                    if some == none:
                        open_[w] ^= lowest
                    disagree ^= lowest
        _add_bits(removing[:n_labels], total[i])


@compiled
def _removing(
    x: Float, y: Float, x_bits: Words, y_bits: Words, binary: bool, square: float, limit: float, removed: Words
) -> None:
    """A bit for each feature f with which y is no longer a neighbor of x."""
    if binary:
        for v in range(len(removed)):
            removed[v] = x_bits[v] ^ y_bits[v] if square + 1.0 > limit else np.uint64(0)
        return
    for v in range(len(removed)):
        removed[v] = np.uint64(0)
    for f in range(len(x)):
        difference = x[f] - y[f]
        out = np.uint64(square + difference * difference > limit)
        removed[f // 64] |= out << np.uint64(f % 64)


@compiled
def _add_bits(lines: Words, counts: Int) -> None:
    one = np.uint64(1)
    for line in lines:
        for v in range(len(line)):
            word = line[v]
            while word != np.uint64(0):
                lowest = word & (~word + one)
                counts[64 * v + popcount(lowest - one)] += 1
                word ^= lowest

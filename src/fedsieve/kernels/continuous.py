"""Pair sums of features with many values: min-accumulation over blocks of row pairs, never an n x n matrix.

For a chunk of row pairs the degrees of all features are laid out feature by feature (a strip that fits the cache);
then 4 x 2 features at a time are compared along the strip, in eight 32-bit accumulators that fit the registers.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.degrees import ONE, fixed_degree
from fedsieve.kernels.threads import parallel_map

CHUNK = 480  # row pairs per strip: a multiple of 32, and 480 * 2^23 < 2^32
TASK = 34 * CHUNK  # row pairs per task at most; tasks depend on the table's shape only, never on the threads


def sums_from_values(columns: Float, cut: Float, by_similarity: bool, n_left: int, n_threads: int | None = None) -> Int:
    """Fixed-point pair sums of the first `n_left` features with all features.

    `columns` is (n_features, n_rows), scaled. Returns (n_features, n_features) of which the upper triangle of the
    first `n_left` rows is filled.
    """

    def work(task: tuple[int, int, int]) -> Int:
        return _task_from_values(columns, cut, by_similarity, *task, n_left)

    return _add_tasks(work, len(columns), columns.shape[1], n_threads)


def sums_from_relations(relations: Float, n_threads: int | None = None) -> Int:
    """Fixed-point pair sums of materialized relations, (n_features, n_rows, n_rows): the same as from the values."""

    def work(task: tuple[int, int, int]) -> Int:
        return _task_from_relations(relations, *task)

    return _add_tasks(work, len(relations), relations.shape[1], n_threads)


def _add_tasks(work: Callable[[tuple[int, int, int]], Int], n_features: int, n_rows: int, n_threads: int | None) -> Int:
    padded = _padded(n_features)
    total = np.zeros((padded, padded), dtype=np.int64)
    for part in parallel_map(work, row_pair_tasks(n_rows), n_threads):
        total += part
    # Each pair was met once, off the diagonal; on it every degree is 1.
    return 2 * total[:n_features, :n_features] + n_rows * ONE


def row_pair_tasks(n_rows: int) -> list[tuple[int, int, int]]:
    """Cut the row pairs i < j, in row-major order, into (first i, first j, how many)."""
    n_pairs = n_rows * (n_rows - 1) // 2
    size = min(TASK, max(CHUNK, -(-n_pairs // (16 * CHUNK)) * CHUNK))
    starts = np.arange(0, n_pairs, size)
    row_starts = np.cumsum(np.arange(n_rows - 1, 0, -1)) - np.arange(n_rows - 1, 0, -1)
    i = np.searchsorted(row_starts, starts, side="right") - 1
    j = i + 1 + starts - row_starts[i]
    return [(int(a), int(b), min(size, n_pairs - int(s))) for a, b, s in zip(i, j, starts, strict=True)]


@compiled
def _padded(n_features: int) -> int:
    return (n_features + 3) // 4 * 4


@compiled
def _task_from_values(
    columns: Float, cut: Float, by_similarity: bool, i: int, j: int, n_pairs: int, n_left: int
) -> Int:
    n_features, n_rows = columns.shape
    padded = _padded(n_features)
    sums = np.zeros((padded, padded), dtype=np.int64)
    strip = np.zeros((padded, CHUNK), dtype=np.int32)
    while n_pairs > 0:
        length = min(CHUNK, n_pairs)
        next_i, next_j = i, j
        for f in range(n_features):
            column, edge = columns[f], cut[f]
            next_i, next_j, filled = i, j, 0
            while filled < length:
                run = min(n_rows - next_j, length - filled)
                x, others = column[next_i], column[next_j : next_j + run]
                target = strip[f, filled : filled + run]
                for t in range(run):
                    target[t] = fixed_degree(abs(x - others[t]), edge, by_similarity)
                filled += run
                next_j += run
                if next_j == n_rows:
                    next_i += 1
                    next_j = next_i + 1
        _add_strip(strip.view(np.uint32), length, n_left, sums)
        i, j, n_pairs = next_i, next_j, n_pairs - length
    return sums


@compiled
def _task_from_relations(relations: Float, i: int, j: int, n_pairs: int) -> Int:
    n_features, n_rows = relations.shape[:2]
    padded = _padded(n_features)
    sums = np.zeros((padded, padded), dtype=np.int64)
    strip = np.zeros((padded, CHUNK), dtype=np.int32)
    while n_pairs > 0:
        length = min(CHUNK, n_pairs)
        for t in range(length):
            for f in range(n_features):
                strip[f, t] = np.int32(relations[f, i, j] * ONE + 0.5)
            j += 1
            if j == n_rows:
                i += 1
                j = i + 1
        _add_strip(strip.view(np.uint32), length, n_features, sums)
        n_pairs -= length
    return sums


@compiled
def _add_strip(strip: NDArray[np.uint32], length: int, n_left: int, sums: Int) -> None:
    """Add Σ_t min(strip[p, t], strip[b, t]) to sums[p, b] for p < n_left and b >= p, four p and two b at a time."""
    u32 = np.uint32
    for p in range(0, n_left, 4):
        for b in range(p, strip.shape[0], 2):
            s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = u32(0)
            for t in range(length):
                y0, y1 = strip[b, t], strip[b + 1, t]
                x = strip[p, t]
                s00 = u32(s00 + min(x, y0))
                s01 = u32(s01 + min(x, y1))
                x = strip[p + 1, t]
                s10 = u32(s10 + min(x, y0))
                s11 = u32(s11 + min(x, y1))
                x = strip[p + 2, t]
                s20 = u32(s20 + min(x, y0))
                s21 = u32(s21 + min(x, y1))
                x = strip[p + 3, t]
                s30 = u32(s30 + min(x, y0))
                s31 = u32(s31 + min(x, y1))
            sums[p, b] += s00
            sums[p, b + 1] += s01
            sums[p + 1, b] += s10
            sums[p + 1, b + 1] += s11
            sums[p + 2, b] += s20
            sums[p + 2, b + 1] += s21
            sums[p + 3, b] += s30
            sums[p + 3, b + 1] += s31

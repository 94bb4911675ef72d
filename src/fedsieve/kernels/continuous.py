"""Pair sums of features with many values: min-accumulation over blocks of row pairs, never an n x n matrix.

For a chunk of row pairs the degrees of all features are laid out feature by feature (a strip that fits the cache);
then 4 x 4 features at a time are compared along the strip, in sixteen 32-bit accumulators that fit the registers.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.degrees import ONE, fixed_degree
from fedsieve.kernels.row_pairs import PairSample, all_pairs
from fedsieve.kernels.threads import parallel_sum
from fedsieve.sparse_rows import BLOCK_VALUES, SparseRows

Task = TypeVar("Task")

CHUNK = 480  # row pairs per strip: a multiple of 32, and 480 * 2^23 < 2^32
TASK = 34 * CHUNK  # row pairs per task at most; tasks depend on the table's shape only, never on the threads


def sums_from_values(columns: Float, cut: Float, by_similarity: bool, n_left: int, n_threads: int | None = None) -> Int:
    """Fixed-point pair sums of the first `n_left` features with all features.

    `columns` is (n_features, n_rows), scaled. Returns (n_features, n_features) of which the upper triangle of the
    first `n_left` rows is filled.
    """

    n_features, n_rows = columns.shape

    def work(task: tuple[int, int, int], sums: Int) -> None:
        _add_from_values(columns, cut, by_similarity, 0, *task, n_left, sums)

    return _add_tasks(work, row_pair_tasks(n_rows), n_features, n_rows, n_threads)


def sums_from_sparse(
    rows: SparseRows, cut: Float, by_similarity: bool, n_left: int, n_threads: int | None = None
) -> Int:
    """The same from sparse rows, of which two blocks at a time are made dense."""
    n_rows, n_features = rows.shape
    size = max(32, BLOCK_VALUES // 2 // max(n_features, 1))
    starts = range(0, n_rows, size)

    def work(blocks: tuple[int, int], sums: Int) -> None:
        first, second = (slice(start, start + size) for start in blocks)
        here = rows.at(first)
        if first == second:
            columns, n_pairs, first_j = here, all_pairs(len(here)), 0
        else:
            there = rows.at(second)
            columns, n_pairs, first_j = np.concatenate([here, there]), len(here) * len(there), len(here)
        task = (first_j, 0, max(first_j, 1), n_pairs)
        _add_from_values(np.ascontiguousarray(columns.T), cut, by_similarity, *task, n_left, sums)

    tasks = [(first, second) for first in starts for second in starts if first <= second]
    return _add_tasks(work, tasks, n_features, n_rows, n_threads)


def sums_from_sample(
    rows: Float | SparseRows, sample: PairSample, cut: Float, by_similarity: bool, n_threads: int | None = None
) -> Int:
    """Fixed-point pair sums over the pairs of a sample, each once; (n_features, n_features), the upper triangle filled.

    `rows` is (n_rows, n_features), scaled: it is read, and made dense, a block of rows at a time.
    Sums of up to 2^39 pairs stay within 63 bits.
    """
    n_rows, n_features = rows.shape
    n_next = sample.n_next
    order = np.concatenate([sample.order, sample.order[:n_next]])
    size = max(CHUNK, BLOCK_VALUES // max(n_features, 1) // CHUNK * CHUNK)

    def work(first: int, sums: Int) -> None:
        stop = min(first + size, n_rows)
        chosen = order[first : stop + n_next]
        block = rows.at(chosen) if isinstance(rows, SparseRows) else rows[chosen]
        columns = np.ascontiguousarray(block.T, dtype=np.float64)
        _add_from_neighbors(columns, cut, by_similarity, stop - first, n_next, sums)

    return parallel_sum(work, range(0, n_rows, size), _zeros(n_features), n_threads)[:n_features, :n_features]


def sums_from_relations(relations: Float, n_threads: int | None = None) -> Int:
    """Fixed-point pair sums of materialized relations, (n_features, n_rows, n_rows): the same as from the values."""

    n_features, n_rows = relations.shape[:2]

    def work(task: tuple[int, int, int], sums: Int) -> None:
        _add_from_relations(relations, *task, sums)

    return _add_tasks(work, row_pair_tasks(n_rows), n_features, n_rows, n_threads)


def _add_tasks(
    work: Callable[[Task, Int], None], tasks: Iterable[Task], n_features: int, n_rows: int, n_threads: int | None
) -> Int:
    sums = parallel_sum(work, tasks, _zeros(n_features), n_threads)
    # Each pair was met once, off the diagonal; on it every degree is 1.
    sums *= 2
    sums += n_rows * ONE
    return np.ascontiguousarray(sums[:n_features, :n_features])


def _zeros(n_features: int) -> Callable[[], Int]:
    """Makes an array for the sums of so many features, in whole blocks of four."""
    padded = (n_features + 3) // 4 * 4
    return lambda: np.zeros((padded, padded), dtype=np.int64)


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
def _add_from_values(
    columns: Float, cut: Float, by_similarity: bool, first_j: int, i: int, j: int, n_pairs: int, n_left: int, sums: Int
) -> None:
    """Add so many pairs i < j from (i, j) on, row by row, with j no less than `first_j`."""
    n_features, n_rows = columns.shape
    strip = np.zeros((len(sums), CHUNK), dtype=np.int32)
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
                    next_j = max(next_i + 1, first_j)
        _add_strip(strip.view(np.uint32), length, n_left, sums)
        i, j, n_pairs = next_i, next_j, n_pairs - length


@compiled
def _add_from_neighbors(columns: Float, cut: Float, by_similarity: bool, n_first: int, n_next: int, sums: Int) -> None:
    """Add the pairs of each of the first `n_first` rows with the `n_next` rows after it."""
    n_features = len(columns)
    strip = np.zeros((len(sums), CHUNK), dtype=np.int32)
    for step in range(1, n_next + 1):
        for start in range(0, n_first, CHUNK):
            length = min(CHUNK, n_first - start)
            for f in range(n_features):
                here, there = columns[f, start : start + length], columns[f, start + step : start + step + length]
                target, edge = strip[f], cut[f]
                for t in range(length):
                    target[t] = fixed_degree(abs(here[t] - there[t]), edge, by_similarity)
            _add_strip(strip.view(np.uint32), length, n_features, sums)


@compiled
def _add_from_relations(relations: Float, i: int, j: int, n_pairs: int, sums: Int) -> None:
    n_features, n_rows = relations.shape[:2]
    strip = np.zeros((len(sums), CHUNK), dtype=np.int32)
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


@compiled
def _add_strip(strip: NDArray[np.uint32], length: int, n_left: int, sums: Int) -> None:
    """Add Σ_t min(strip[p, t], strip[b, t]) to sums[p, b] for p < n_left and b >= p, four p and four b at a time.

    Sixteen sums, four lines of the strip and one more fit the 32 registers of AVX-512, however wide the compiler makes
    the vectors.
    """
    u32 = np.uint32
    for p in range(0, n_left, 4):
        _add_diagonal_block(strip, length, p, sums)
        for b in range(p + 4, strip.shape[0], 4):
            s00 = s01 = s02 = s03 = u32(0)
            s10 = s11 = s12 = s13 = u32(0)
            s20 = s21 = s22 = s23 = u32(0)
            s30 = s31 = s32 = s33 = u32(0)
            for t in range(length):
                y0, y1, y2, y3 = strip[b, t], strip[b + 1, t], strip[b + 2, t], strip[b + 3, t]
                x = strip[p, t]
                s00 = u32(s00 + min(x, y0))
                s01 = u32(s01 + min(x, y1))
                s02 = u32(s02 + min(x, y2))
                s03 = u32(s03 + min(x, y3))
                x = strip[p + 1, t]
                s10 = u32(s10 + min(x, y0))
                s11 = u32(s11 + min(x, y1))
                s12 = u32(s12 + min(x, y2))
                s13 = u32(s13 + min(x, y3))
                x = strip[p + 2, t]
                s20 = u32(s20 + min(x, y0))
                s21 = u32(s21 + min(x, y1))
                s22 = u32(s22 + min(x, y2))
                s23 = u32(s23 + min(x, y3))
                x = strip[p + 3, t]
                s30 = u32(s30 + min(x, y0))
                s31 = u32(s31 + min(x, y1))
                s32 = u32(s32 + min(x, y2))
                s33 = u32(s33 + min(x, y3))
            sums[p, b] += s00
            sums[p, b + 1] += s01
            sums[p, b + 2] += s02
            sums[p, b + 3] += s03
            sums[p + 1, b] += s10
            sums[p + 1, b + 1] += s11
            sums[p + 1, b + 2] += s12
            sums[p + 1, b + 3] += s13
            sums[p + 2, b] += s20
            sums[p + 2, b + 1] += s21
            sums[p + 2, b + 2] += s22
            sums[p + 2, b + 3] += s23
            sums[p + 3, b] += s30
            sums[p + 3, b + 1] += s31
            sums[p + 3, b + 2] += s32
            sums[p + 3, b + 3] += s33


@compiled
def _add_diagonal_block(strip: NDArray[np.uint32], length: int, p: int, sums: Int) -> None:
    """The same for four features among themselves: ten sums instead of sixteen."""
    u32 = np.uint32
    s00 = s01 = s02 = s03 = s11 = s12 = s13 = s22 = s23 = s33 = u32(0)
    for t in range(length):
        x0, x1, x2, x3 = strip[p, t], strip[p + 1, t], strip[p + 2, t], strip[p + 3, t]
        s00 = u32(s00 + x0)
        s01 = u32(s01 + min(x0, x1))
        s02 = u32(s02 + min(x0, x2))
        s03 = u32(s03 + min(x0, x3))
        s11 = u32(s11 + x1)
        s12 = u32(s12 + min(x1, x2))
        s13 = u32(s13 + min(x1, x3))
        s22 = u32(s22 + x2)
        s23 = u32(s23 + min(x2, x3))
        s33 = u32(s33 + x3)
    sums[p, p] += s00
    sums[p, p + 1] += s01
    sums[p, p + 2] += s02
    sums[p, p + 3] += s03
    sums[p + 1, p + 1] += s11
    sums[p + 1, p + 2] += s12
    sums[p + 1, p + 3] += s13
    sums[p + 2, p + 2] += s22
    sums[p + 2, p + 3] += s23
    sums[p + 3, p + 3] += s33

"""Pair sums of features with few values, from contingency tables: products of bit matrices, exact counts.

If p has levels a and b has levels c, and N[a, c] rows have both, then

    S_pb = Σ_{a, a'} Σ_{c, c'} N[a, c] N[a', c'] min(r_p(a, a'), r_b(c, c')),

which for 0/1 features is the sum of the four squared counts. The results equal those of `continuous` to the last bit.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled, popcount
from fedsieve.kernels.degrees import ONE, fixed_degree
from fedsieve.kernels.threads import parallel_map
from fedsieve.sparse_rows import SparseRows

MAX_LEVELS = 16
BLOCK = 192  # features per task


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct values of each feature at one client, and how its levels are related.

    `n_levels` is 0 for a feature with more than 16. `related` lists the level pairs with a degree above 0 as
    (a, a', degree), and `between` has the degree of a two-valued feature's levels; `has_missing` marks features whose
    NaN counts as a level that is related to nothing.
    """

    codes: NDArray[np.int8]  # (n_features, n_rows)
    n_levels: Int  # (n_features,)
    sizes: Int  # (n_features, 16): rows per level
    related: Int  # (n_features, 256, 3)
    n_related: Int  # (n_features,)
    between: Int  # (n_features,)
    has_missing: Bool  # (n_features,)

    def tables(self) -> tuple[Int, Int, Int, Int]:
        """What the kernels need to know of the levels."""
        return self.n_levels, self.sizes, self.related, self.n_related

    def two_valued(self) -> Bool:
        """Features with one or two levels and nothing missing: their sums have a closed form."""
        return (self.n_levels > 0) & (self.n_levels <= 2) & ~self.has_missing

    def counted(self) -> Int:
        """The features for which counting is cheaper than comparing row pairs, the two-valued ones first."""
        two_valued = self.two_valued()
        # A quadruple of levels costs as much as some 50 row pairs, which the other kernel takes eight at a time.
        few_valued = (self.n_levels > 0) & (7 * self.n_related <= self.codes.shape[1]) & ~two_valued
        return np.concatenate([np.flatnonzero(two_valued), np.flatnonzero(few_valued)])


def find_levels(columns: Float | SparseRows, cut: Float, by_similarity: bool) -> Levels:
    """Find the levels of each feature of `columns`, (n_features, n_rows), or of sparse rows, some features at a time.

    The codes take a byte per value.
    """
    n_features, n_rows = columns.shape[::-1] if isinstance(columns, SparseRows) else columns.shape
    levels = Levels(
        codes=np.zeros((n_features, n_rows), dtype=np.int8),
        n_levels=np.zeros(n_features, dtype=np.int64),
        sizes=np.zeros((n_features, MAX_LEVELS), dtype=np.int64),
        related=np.zeros((n_features, MAX_LEVELS**2, 3), dtype=np.int64),
        n_related=np.zeros(n_features, dtype=np.int64),
        between=np.zeros(n_features, dtype=np.int64),
        has_missing=np.zeros(n_features, dtype=np.bool_),
    )
    for first, block in columns.column_blocks() if isinstance(columns, SparseRows) else [(0, columns)]:
        here = slice(first, first + len(block))
        codes, between, has_missing = levels.codes[here], levels.between[here], levels.has_missing[here]
        tables = (part[here] for part in levels.tables())
        _find_levels(block, cut[here], by_similarity, codes, between, has_missing, *tables)
    return levels


def sums_from_levels(levels: Levels, chosen: Int, n_threads: int | None = None) -> Int:
    """Fixed-point pair sums among the `chosen` features, (n_chosen, n_chosen); the upper triangle is filled.

    `chosen` lists the two-valued features first (`Levels.counted`).
    """
    n_rows = levels.codes.shape[1]
    n_two_valued = int(levels.two_valued()[chosen].sum())
    # One row of bits per level but the first, which follows from the margins.
    starts = np.concatenate([[0], np.cumsum(np.maximum(levels.n_levels[chosen], 2) - 1)])
    bits = np.zeros((starts[-1], (n_rows + 63) // 64), dtype=np.uint64)
    _fill_bits(levels.codes, chosen, starts, bits)
    second, between = levels.sizes[chosen, 1], levels.between[chosen]
    sums = np.empty((len(chosen), len(chosen)), dtype=np.int64)

    def work(block: tuple[int, int]) -> None:
        _fold_two_valued_bits(bits, *block, n_two_valued, n_rows, second, between, sums)
        _fold_tables(bits, *block, n_two_valued, chosen, starts, *levels.tables(), sums)

    for _ in parallel_map(work, _blocks(len(chosen)), n_threads):
        pass
    return sums


def sums_from_ones(X: SparseRows, cut: Float, by_similarity: bool) -> Int:
    """Fixed-point pair sums of a sparse 0/1 table, (n_rows, n_features), without a dense copy of it."""
    n_rows, n_features = X.shape
    both = np.ascontiguousarray((X.entries.T @ X.entries).toarray(), dtype=np.int32)
    ones = np.diagonal(both).astype(np.int64)
    between = find_levels(np.tile([0.0, 1.0], (n_features, 1)), cut, by_similarity).between
    sums = np.empty(both.shape, dtype=np.int64)
    for p in range(n_features):
        _fold_two_valued(both[p, p:], p, n_rows, ones, between, sums)
    return sums


def _blocks(n_features: int) -> list[tuple[int, int]]:
    edges = [*range(0, n_features, BLOCK), n_features]
    return list(pairwise(edges))


@compiled
def _find_levels(
    columns: Float,
    cut: Float,
    by_similarity: bool,
    codes: NDArray[np.int8],
    between: Int,
    has_missing: Bool,
    n_levels: Int,
    sizes: Int,
    related: Int,
    n_related: Int,
) -> None:
    n_features, n_rows = columns.shape
    found = np.empty(MAX_LEVELS, dtype=np.float64)
    for f in range(n_features):
        n = 0
        for i in range(n_rows):
            x = columns[f, i]
            code = -1
            for a in range(n):
                if found[a] == x or (np.isnan(found[a]) and np.isnan(x)):
                    code = a
                    break
            if code < 0:
                if n == MAX_LEVELS:
                    n = 0
                    break
                code = n
                found[n] = x
                n += 1
                has_missing[f] |= np.isnan(x)
            codes[f, i] = code
            sizes[f, code] += 1
        n_levels[f] = n
        for a in range(n):
            for b in range(n):
                degree = fixed_degree(abs(found[a] - found[b]), cut[f], by_similarity)
                if degree > 0:
                    k = n_related[f]
                    related[f, k, 0], related[f, k, 1], related[f, k, 2] = a, b, degree
                    n_related[f] += 1
                    if a != b:
                        between[f] = degree


@compiled
def _fill_bits(codes: NDArray[np.int8], chosen: Int, starts: Int, bits: NDArray[np.uint64]) -> None:
    for k in range(len(chosen)):
        source = codes[chosen[k]]
        for i in range(len(source)):
            if source[i] > 0:
                bits[starts[k] + source[i] - 1, i // 64] |= np.uint64(1) << np.uint64(i % 64)


@compiled
def _shared(bits: NDArray[np.uint64], first: int, second: int) -> int:
    """How many bits two rows of `bits` share; the rows go by number, since slicing would cost more than counting."""
    total = 0
    for word in range(bits.shape[1]):
        total += popcount(bits[first, word] & bits[second, word])
    return total


@compiled
def _fold_two_valued_bits(
    bits: NDArray[np.uint64],
    first: int,
    stop: int,
    n_two_valued: int,
    n_rows: int,
    second: Int,
    between: Int,
    sums: Int,
) -> None:
    """S_pb of two-valued features first..stop with all later two-valued ones."""
    both = np.empty(n_two_valued, dtype=np.int32)
    for p in range(first, min(stop, n_two_valued)):
        for b in range(p, n_two_valued):
            both[b] = _shared(bits, p, b)
        _fold_two_valued(both[p:], p, n_rows, second[:n_two_valued], between, sums)


@compiled
def _fold_two_valued(both: NDArray[np.int32], p: int, n_rows: int, second: Int, between: Int, sums: Int) -> None:
    """S_pb of feature p with itself and all later ones, from the rows that have the second level in both."""
    n_second, others, degrees, out = np.int32(second[p]), second[p:], between[p:], sums[p, p:]
    for b in range(len(others)):
        # 32-bit counts multiplied to 64 bits: one vector instruction each.
        n11 = both[b]
        n10, n01 = np.int32(n_second - n11), np.int32(others[b] - n11)
        n00 = np.int32(n_rows - n_second - n01)
        same = n11 * n11 + n10 * n10 + n01 * n01 + n00 * n00
        p_differs, b_differs = n11 * n01 + n10 * n00, n11 * n10 + n01 * n00
        both_differ = n11 * n00 + n10 * n01
        related_sum = between[p] * p_differs + degrees[b] * b_differs
        related_sum += min(between[p], degrees[b]) * both_differ
        out[b] = ONE * same + 2 * related_sum


@compiled
def _fold_tables(
    bits: NDArray[np.uint64],
    first: int,
    stop: int,
    n_two_valued: int,
    chosen: Int,
    starts: Int,
    n_levels: Int,
    sizes: Int,
    related: Int,
    n_related: Int,
    sums: Int,
) -> None:
    """S_pb of features first..stop with all later ones that have more than two levels, or missing values."""
    n_rows = sizes[chosen[0]].sum()
    table = np.zeros((MAX_LEVELS, MAX_LEVELS), dtype=np.int64)
    for k in range(first, stop):
        p, p_row = chosen[k], starts[k] - 1
        for m in range(max(k, n_two_valued), len(chosen)):
            b, b_row = chosen[m], starts[m] - 1
            for a in range(1, n_levels[p]):
                for c in range(1, n_levels[b]):
                    table[a, c] = _shared(bits, p_row + a, b_row + c)
                table[a, 0] = sizes[p, a] - table[a, 1 : n_levels[b]].sum()
            for c in range(n_levels[b]):
                table[0, c] = sizes[b, c] - table[1 : n_levels[p], c].sum()
            sums[k, m] = _table_sum(table, related[p], n_related[p], related[b], n_related[b], n_rows)


@compiled
def _table_sum(table: Int, related_p: Int, n_related_p: int, related_b: Int, n_related_b: int, n_rows: int) -> int:
    """S_pb from a contingency table; a row is always related to itself, also where a value is missing."""
    total, with_itself = 0, 0
    for k in range(n_related_p):
        a, a2, degree_p = related_p[k]
        for m in range(n_related_b):
            c, c2, degree_b = related_b[m]
            total += table[a, c] * table[a2, c2] * min(degree_p, degree_b)
            if a == a2 and c == c2:
                with_itself += table[a, c]
    return total + (n_rows - with_itself) * ONE

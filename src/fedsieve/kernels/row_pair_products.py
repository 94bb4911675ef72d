"""The correlation distance times a vector straight from the rows, in O(n_features) per row pair: no pair sums at all.

n² D is Σ_ij abs(r_p - r_b), so y_p = Σ_ij Σ_b abs(r_p - r_b) v_b. For one row pair the inner sum follows from sums over
the features in the order of their degrees, with V = Σ v_b and M = Σ r_b v_b:

    r_p (V(below r_p) - V(above r_p)) - M(below r_p) + M(above r_p)

Instead of sorting, features fall into buckets of nearly equal degree; within a bucket a difference counts as 0, for
both features alike, so that what is multiplied is still one symmetric matrix. Features that do not relate the two rows,
most of them, have degree 0 and one answer, M: they cost no more than the comparison.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.continuous import TASK, row_pair_tasks
from fedsieve.kernels.degrees import ONE, cuts, fixed_degree
from fedsieve.kernels.row_pairs import PairSample
from fedsieve.kernels.sums import plain_rows
from fedsieve.kernels.threads import parallel_map
from fedsieve.sparse_rows import SparseRows

BUCKETS = 2048

Task = tuple[int, int, int]


def product_from_rows(
    X: ArrayLike | Rows | SparseRows,
    radius: ArrayLike,
    vector: Float,
    kind: str = "distance",
    *,
    nominal: Bool | None = None,
    exact: bool = False,
    sample: PairSample | None = None,
    n_threads: int | None = None,
) -> Float:
    """What `distance_product(pair_sums(X, ...), vector)` gives, to about 1e-8; `exact` sorts, which is slower: 1e-12.

    X is as for `pair_sums`, the vector has no negative entry. Additions are made in one fixed order on any number of
    threads, and copies of a feature get the same number. Of sparse rows only entries are looked at, and sorted, `exact`
    or not. With a `sample` it is an estimate, right on average.

    >>> product_from_rows([[0.0, 0], [0.25, 1], [1.0, 1]], 0.25, np.array([1.0, 10.0]))
    array([35. ,  3.5])
    """
    rows = plain_rows("kernels.product_from_rows", X)
    n_rows, n_features = rows.shape
    if vector.shape != (n_features,) or not np.all(vector >= 0):
        raise DataError(f"kernels.product_from_rows: needs {n_features} weights of at least 0; got {vector.shape}.")
    vector = np.ascontiguousarray(vector)
    pairs = _Pairs.of(n_rows, sample)
    cut, by_similarity = cuts(radius, kind, nominal, n_features), kind == "similarity"
    if isinstance(rows, SparseRows):
        work = _work_on_sparse(rows, cut, by_similarity, vector, pairs)
    else:
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        work = (_work_by_sorting if exact else _work_by_buckets)(rows, cut, by_similarity, vector, pairs)
    return pairs.added(work, n_features, n_threads) * (2.0 / ONE)


class _Pairs(NamedTuple):
    """The row pairs to look at: (order[i], order[j]) for i < j, or for the `n_next` places j that follow i."""

    order: Int
    n_next: int  # 0: all
    tasks: list[Task]
    weight: float

    @classmethod
    def of(cls, n_rows: int, sample: PairSample | None) -> "_Pairs":
        if sample is None:
            return cls(np.arange(n_rows), 0, row_pair_tasks(n_rows), 1.0)
        starts = range(0, sample.n_pairs, TASK)
        tasks = [
            (
                start // sample.n_next,
                start // sample.n_next + 1 + start % sample.n_next,
                min(TASK, sample.n_pairs - start),
            )
            for start in starts
        ]
        return cls(sample.order, sample.n_next, tasks, sample.weight)

    def added(self, work: Callable[[Task], Float], n_features: int, n_threads: int | None) -> Float:
        """The sum over the pairs; a row is equally close to itself in all features, and adds nothing."""
        total = np.zeros(n_features)
        for part in parallel_map(work, self.tasks, n_threads):
            total += part
        return total * self.weight


def _work_by_buckets(
    rows: Float, cut: Float, by_similarity: bool, vector: Float, pairs: _Pairs
) -> Callable[[Task], Float]:
    # Degrees above 0 begin where the widest relation ends: the buckets share out what lies between there and 1.
    least = float(cut.min()) if by_similarity else 1.0 - float(cut.max())
    lowest = max(int(least * ONE) - 1, 0)
    shift = max(0, (ONE - lowest).bit_length() - (BUCKETS - 1).bit_length())
    order, n_next = pairs.order, pairs.n_next
    return lambda task: _task_by_buckets(rows, cut, by_similarity, vector, lowest, shift, order, n_next, *task)


def _work_by_sorting(
    rows: Float, cut: Float, by_similarity: bool, vector: Float, pairs: _Pairs
) -> Callable[[Task], Float]:
    return lambda task: _task_by_sorting(rows, cut, by_similarity, vector, pairs.order, pairs.n_next, *task)


def _work_on_sparse(
    rows: SparseRows, cut: Float, by_similarity: bool, vector: Float, pairs: _Pairs
) -> Callable[[Task], Float]:
    entries = rows.entries
    starts, places = entries.indptr.astype(np.int64), entries.indices.astype(np.int64)
    table = (starts, places, entries.data, rows.usual, cut, by_similarity, vector)
    return lambda task: _task_on_sparse(*table, pairs.order, pairs.n_next, *task)


@compiled
def _next_pair(i: int, j: int, n_rows: int, n_next: int) -> tuple[int, int]:
    """Row by row: j runs to the last row, or over the `n_next` places after i."""
    j += 1
    if j == n_rows if n_next == 0 else j > i + n_next:
        i += 1
        j = i + 1
    return i, j


@compiled
def _task_by_buckets(
    rows: Float,
    cut: Float,
    by_similarity: bool,
    vector: Float,
    lowest: int,
    shift: int,
    order: Int,
    n_next: int,
    i: int,
    j: int,
    n_pairs: int,
) -> Float:
    n_rows, n_features = rows.shape
    product, everywhere, total = np.zeros(n_features), 0.0, vector.sum()
    degree = np.empty(n_features, dtype=np.int32)
    related = np.empty(n_features + 1, dtype=np.int32)
    n_buckets = ((ONE - lowest) >> shift) + 1
    weight, moment = np.empty(n_buckets), np.empty(n_buckets)
    slope, offset = np.empty(n_buckets), np.empty(n_buckets)
    for _ in range(n_pairs):
        one, other = rows[order[i]], rows[order[j % n_rows]]
        for f in range(n_features):
            degree[f] = fixed_degree(abs(one[f] - other[f]), cut[f], by_similarity)
        n_related = 0
        for f in range(n_features):  # without a branch, which no processor could foresee
            related[n_related] = f
            n_related += degree[f] > 0
        weight[:] = 0.0
        moment[:] = 0.0
        for t in range(n_related):
            f = related[t]
            b = (degree[f] - lowest) >> shift
            weight[b] += vector[f]
            moment[b] += vector[f] * degree[f]
        above, moment_above = weight.sum(), moment.sum()
        below, moment_below, apart = total - above, 0.0, moment_above
        everywhere += apart
        for b in range(n_buckets):
            above -= weight[b]
            moment_above -= moment[b]
            slope[b] = below - above
            offset[b] = moment_above - moment_below - apart
            below += weight[b]
            moment_below += moment[b]
        for t in range(n_related):
            f = related[t]
            b = (degree[f] - lowest) >> shift
            product[f] += degree[f] * slope[b] + offset[b]
        i, j = _next_pair(i, j, n_rows, n_next)
    return product + everywhere


@compiled
def _task_by_sorting(
    rows: Float,
    cut: Float,
    by_similarity: bool,
    vector: Float,
    order: Int,
    n_next: int,
    i: int,
    j: int,
    n_pairs: int,
) -> Float:
    n_rows, n_features = rows.shape
    product, total = np.zeros(n_features), vector.sum()
    degree = np.empty(n_features, dtype=np.int32)
    for _ in range(n_pairs):
        one, other = rows[order[i]], rows[order[j % n_rows]]
        for f in range(n_features):
            degree[f] = fixed_degree(abs(one[f] - other[f]), cut[f], by_similarity)
        by_degree = np.argsort(degree)
        all_moments = (vector * degree).sum()
        below = moment_below = 0.0
        first = 0
        while first < n_features:
            height, weight = degree[by_degree[first]], 0.0
            stop = first
            while stop < n_features and degree[by_degree[stop]] == height:  # equal degrees get one answer
                weight += vector[by_degree[stop]]
                stop += 1
            moment = weight * height
            above, moment_above = total - below - weight, all_moments - moment_below - moment
            value = height * (below - above) - moment_below + moment_above
            for t in range(first, stop):
                product[by_degree[t]] += value
            below += weight
            moment_below += moment
            first = stop
        i, j = _next_pair(i, j, n_rows, n_next)
    return product


@compiled
def _task_on_sparse(
    starts: Int,
    places: Int,
    values: Float,
    usual: Float,
    cut: Float,
    by_similarity: bool,
    vector: Float,
    order: Int,
    n_next: int,
    i: int,
    j: int,
    n_pairs: int,
) -> Float:
    """Where neither of two rows has an entry both are alike, of degree 1: only other features are looked at, sorted."""
    n_rows, n_features = len(starts) - 1, len(vector)
    product, everywhere, total = np.zeros(n_features), 0.0, vector.sum()
    apart, near = np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=np.int64)
    degree = np.empty(n_features, dtype=np.int64)
    for _ in range(n_pairs):
        one, other = order[i], order[j % n_rows]
        a, a_end, b, b_end = starts[one], starts[one + 1], starts[other], starts[other + 1]
        n_apart, n_near = 0, 0
        weight_apart = weight_near = moment_near = 0.0
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and places[a] < places[b]):
                f = places[a]
                difference = abs(values[a] - usual[f])
                a += 1
            elif a == a_end or places[b] < places[a]:
                f = places[b]
                difference = abs(values[b] - usual[f])
                b += 1
            else:
                f = places[a]
                difference = abs(values[a] - values[b])
                a += 1
                b += 1
            height = fixed_degree(difference, cut[f], by_similarity)
            if height == 0:
                apart[n_apart] = f
                n_apart += 1
                weight_apart += vector[f]
            elif height < ONE:
                near[n_near], degree[n_near] = f, height
                n_near += 1
                weight_near += vector[f]
                moment_near += vector[f] * height
        # What is alike has one answer, and what is unrelated too; added to all, the first leaves the others to change.
        alike = total - weight_apart - weight_near
        usual_answer = ONE * (weight_apart + weight_near) - moment_near
        everywhere += usual_answer
        for t in range(n_apart):
            product[apart[t]] += ONE * alike + moment_near - usual_answer
        if n_near > 0:
            by_degree = np.argsort(degree[:n_near])
            below, moment_below = weight_apart, 0.0
            above, moment_above = alike + weight_near, ONE * alike + moment_near
            first = 0
            while first < n_near:
                height, weight, stop = degree[by_degree[first]], 0.0, first
                while stop < n_near and degree[by_degree[stop]] == height:  # equal degrees get one answer
                    weight += vector[near[by_degree[stop]]]
                    stop += 1
                above -= weight
                moment_above -= weight * height
                value = height * (below - above) - moment_below + moment_above - usual_answer
                for t in range(first, stop):
                    product[near[by_degree[t]]] += value
                below += weight
                moment_below += weight * height
                first = stop
        i, j = _next_pair(i, j, n_rows, n_next)
    return product + everywhere

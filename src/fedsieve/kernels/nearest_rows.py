"""The loops of the neighbor search: rule rows out by products, measure the others, keep the nearest.

With A_j = |q|² + |x_j|² - 2 q·x_j from rounded products and D_j the directly measured squared distance,
|A_j - D_j| <= e_j = slack (|q|² + |x_j|²). The k-th smallest A_j + e_j is no less than the k-th smallest D_j, so every
row among the k nearest, ties included, has A_j - e_j at most that large. Only such rows are measured.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled

Compressed = tuple[Int, Int, Float]
"""A compressed sparse table: where each line starts, and the positions and values of its entries."""

EPSILON = float(np.finfo(np.float64).eps)
TINY = 1e-300  # above what underflow can take from a sum of squares


@compiled
def nearest_dense_rows(
    products: Float, first: int, queries: Float, rows: Float, query_sizes: Float, sizes: Float, own: bool, result: Int
) -> None:
    """Fill result[first:] for the queries of one block; `products` (n_block, n_rows) holds their q·x.

    Sizes are the squared lengths |q|² and |x|². With `own`, query i is row i and does not count.
    """
    n_rows, n_features = rows.shape
    k = result.shape[1]
    slack = _slack(n_features)
    distances, nearest = np.empty(k), np.empty(k, dtype=np.int64)
    for b in range(len(products)):
        i = first + b
        cut = _cut(products[b], query_sizes[i], sizes, slack, i if own else -1, distances, nearest)
        count = 0
        for j in range(n_rows):
            size = query_sizes[i] + sizes[j]
            # Written so that a product that overflowed to NaN rules nothing out.
            if not (size - 2.0 * products[b, j] - slack * size > cut) and not (own and j == i):
                distance = 0.0
                for f in range(n_features):
                    difference = queries[i, f] - rows[j, f]
                    distance += difference * difference
                count = _offer(distance, j, distances, nearest, count)
        result[i] = nearest


@compiled
def nearest_sparse_rows(
    first: int,
    last: int,
    n_features: int,
    queries: Compressed,
    rows: Compressed,
    columns: Compressed,
    query_sizes: Float,
    sizes: Float,
    own: bool,
    result: Int,
) -> None:
    """Fill result[first:last]; `rows` and `columns` hold the same table, by rows and by columns."""
    n_rows, k = len(sizes), result.shape[1]
    starts, features, values = queries
    column_starts, members, member_values = columns
    slack = _slack(n_features)
    distances, nearest, products = np.empty(k), np.empty(k, dtype=np.int64), np.empty(n_rows)
    for i in range(first, last):
        products[:] = 0.0
        for e in range(starts[i], starts[i + 1]):
            f = features[e]
            for m in range(column_starts[f], column_starts[f + 1]):
                products[members[m]] += values[e] * member_values[m]
        cut = _cut(products, query_sizes[i], sizes, slack, i if own else -1, distances, nearest)
        count = 0
        for j in range(n_rows):
            size = query_sizes[i] + sizes[j]
            if not (size - 2.0 * products[j] - slack * size > cut) and not (own and j == i):
                count = _offer(_sparse_distance(queries, i, rows, j), j, distances, nearest, count)
        result[i] = nearest


@compiled
def _slack(n_features: int) -> float:
    """Twice the rounding of two sums of n_features squares, a product of that length and a centering."""
    return 4.0 * (n_features + 8) * EPSILON


@compiled
def _cut(
    products: Float, query_size: float, sizes: Float, slack: float, own: int, distances: Float, nearest: Int
) -> float:
    """The k-th smallest upper bound of a squared distance; the last two arguments are scratch of length k."""
    count, worst = 0, np.inf
    for j in range(len(sizes)):
        size = query_size + sizes[j]
        upper = size - 2.0 * products[j] + slack * size
        if upper < worst and j != own:
            count = _offer(upper, j, distances, nearest, count)
            worst = distances[-1] if count == len(distances) else np.inf
    return worst + TINY


@compiled
def _offer(distance: float, row: int, distances: Float, nearest: Int, count: int) -> int:
    """Put a row in its place among the nearest so far, behind its equals: rows come in order of their index."""
    k = len(distances)
    if count == k and distance >= distances[k - 1]:
        return count
    place = min(count, k - 1)
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        nearest[place] = nearest[place - 1]
        place -= 1
    distances[place] = distance
    nearest[place] = row
    return min(count + 1, k)


@compiled
def _sparse_distance(queries: Compressed, i: int, rows: Compressed, j: int) -> float:
    """Σ (q - x)² over the entries of either, in the order of the features: the dense sum without its zeros."""
    starts, features, values = queries
    row_starts, row_features, row_values = rows
    a, a_end, b, b_end = starts[i], starts[i + 1], row_starts[j], row_starts[j + 1]
    distance = 0.0
    while a < a_end or b < b_end:
        difference = 0.0
        if b == b_end or (a < a_end and features[a] < row_features[b]):
            difference = values[a]
            a += 1
        elif a == a_end or row_features[b] < features[a]:
            difference = row_values[b]
            b += 1
        else:
            difference = values[a] - row_values[b]
            a += 1
            b += 1
        distance += difference * difference
    return distance

"""Pair sums S_pb = Σ_ij min(r_p, r_b) of one client's rows, and the correlation distance they give times a vector.

Few-valued features go through `counts`, the others through `continuous`; a table with both kinds uses both. The choice
changes the time, never a bit of the result.
"""

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError
from fedsieve.kernels import MAX_ROWS, continuous, counts
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.degrees import ONE, cuts
from fedsieve.kernels.threads import parallel_map
from fedsieve.tables import is_sparse

PRODUCT_BLOCK = 512  # features per task of `distance_product`


def pair_sums(
    X: ArrayLike | Rows,
    radius: ArrayLike,
    kind: str = "distance",
    *,
    nominal: Bool | None = None,
    n_threads: int | None = None,
) -> Float:
    """All pair sums of a scaled table, (n_features, n_features), symmetric, S_p on the diagonal.

    X is (n_rows, n_features), C- or F-ordered, of any real dtype, NaN for missing; or a scipy sparse 0/1 table.
    `radius` is (n_features,) or one number; `nominal` a mask of features that are equal or not.
    Within 1e-6 of the float64 sums (2.4e-7 by the bound in `degrees`), and the same on any number of threads.

    >>> pair_sums([[0.0, 0], [0.25, 1], [1.0, 1]], radius=0.25)
    array([[4.5, 3. ],
           [3. , 5. ]])
    """
    if len(np.shape(X)) != 2:
        raise DataError(f"kernels.pair_sums: X must be (n_rows, n_features); got shape {np.shape(X)}.")
    n_rows, n_features = np.shape(X)
    if not 2 <= n_rows < MAX_ROWS:
        raise DataError(f"kernels.pair_sums: needs 2 to {MAX_ROWS - 1} rows; got {n_rows}.")
    cut = cuts(radius, kind, nominal, n_features)
    by_similarity = kind == "similarity"
    if is_sparse(X):
        from scipy import sparse  # a site with a dense table need not load it

        table = sparse.csr_array(X, dtype=np.float64)
        if np.all(table.data == 1) and table.has_canonical_format:  # else an entry may be stored in parts
            return _from_fixed_point(counts.sums_from_sparse(table, cut, by_similarity))
        X = table.toarray()
    columns = np.ascontiguousarray(np.asarray(X, dtype=np.float64).T)
    if np.isinf(columns).any():
        raise DataError("kernels.pair_sums: X holds infinite values; a scaled table has none.")
    return _from_fixed_point(_dense_sums(columns, cut, by_similarity, n_threads))


def pair_sums_of_relations(relations: Float, n_threads: int | None = None) -> Float:
    """The same sums from materialized relations, (n_features, n_rows, n_rows), as the wire form `matrices` has them."""
    return _from_fixed_point(continuous.sums_from_relations(np.ascontiguousarray(relations), n_threads))


def distance_product(pair_sums: Float, vector: Float, n_threads: int | None = None) -> Float:
    """y_p = Σ_b (S_p + S_b - 2 S_pb) v_b: n² times the distance D, times v.

    Products of clients add up, since pair sums do; the division by the n² of all rows comes last, at the server.
    Additions are made in one fixed order (not by BLAS): a site's process and a simulation agree to the last bit.

    >>> distance_product(np.array([[3.0, 2.0], [2.0, 2.0]]), np.array([1.0, 10.0]))
    array([10.,  1.])
    """
    n_features = len(vector)
    if pair_sums.shape != (n_features, n_features):
        raise DataError(f"kernels.distance_product: {pair_sums.shape} sums for a vector of {n_features} features.")
    result = np.zeros(n_features)
    own = np.diagonal(pair_sums).copy()

    def work(first: int) -> None:
        _block_product(pair_sums, own, vector, first, min(first + PRODUCT_BLOCK, n_features), result)

    for _ in parallel_map(work, range(0, n_features, PRODUCT_BLOCK), n_threads):
        pass
    return result


def _from_fixed_point(upper: Int) -> Float:
    """A symmetric matrix from its upper triangle; exact while sums stay below 2^53 / 2^23, up to 32,768 rows."""
    sums = upper.view(np.float64)  # in place: at a thousand features a second matrix costs more than the arithmetic
    _mirror(upper, sums)
    return sums


def _dense_sums(columns: Float, cut: Float, by_similarity: bool, n_threads: int | None) -> Int:
    levels = counts.find_levels(columns, cut, by_similarity)
    by_counts = levels.counted()
    compared = np.ones(len(columns), dtype=bool)
    compared[by_counts] = False
    by_rows = np.flatnonzero(compared)
    order = np.concatenate([by_rows, by_counts])
    if len(by_rows):
        # Works in blocks of four, so it may meet a few of the counted pairs too, with the same result.
        sums = continuous.sums_from_values(columns[order], cut[order], by_similarity, len(by_rows), n_threads)
        sums[len(by_rows) :, len(by_rows) :] = counts.sums_from_levels(levels, by_counts, n_threads)
    else:
        sums = counts.sums_from_levels(levels, by_counts, n_threads)
    if np.array_equal(order, np.arange(len(order))):
        return sums
    place = np.argsort(order)
    full = np.triu(sums) + np.triu(sums, 1).T
    return full[np.ix_(place, place)]


@compiled
def _mirror(upper: Int, sums: Float) -> None:
    """Divide by ONE and copy the upper triangle to the lower one, in tiles that fit the cache."""
    n, tile = len(upper), 64
    for top in range(0, n, tile):
        for left in range(top, n, tile):
            for p in range(top, min(top + tile, n)):
                for b in range(max(left, p), min(left + tile, n)):
                    sums[p, b] = upper[p, b] / ONE
            for b in range(left, min(left + tile, n)):
                for p in range(top, min(top + tile, b)):
                    sums[b, p] = sums[p, b]


@compiled
def _block_product(pair_sums: Float, own: Float, vector: Float, first: int, stop: int, result: Float) -> None:
    for b in range(len(vector)):  # the sums are symmetric: walking down b keeps memory contiguous
        for p in range(first, stop):
            result[p] += (own[p] + own[b] - 2.0 * pair_sums[b, p]) * vector[b]

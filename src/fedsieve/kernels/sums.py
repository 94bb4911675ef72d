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
from fedsieve.kernels.row_pairs import PairSample
from fedsieve.kernels.threads import parallel_map
from fedsieve.sparse_rows import SparseRows
from fedsieve.values import is_sparse

PRODUCT_BLOCK = 512  # features per task of `distance_product`
HEAD = 1024  # rows that are looked at before all are


def pair_sums(
    X: ArrayLike | Rows | SparseRows,
    radius: ArrayLike,
    kind: str = "distance",
    *,
    nominal: Bool | None = None,
    sample: PairSample | None = None,
    n_threads: int | None = None,
) -> Float:
    """All pair sums of a scaled table, (n_features, n_features), symmetric, S_p on the diagonal.

    X is (n_rows, n_features), C- or F-ordered, of any real dtype, NaN for missing; or sparse, of which no more than
    blocks are made dense.
    `radius` is (n_features,) or one number; `nominal` a mask of features that are equal or not.
    Within 1e-6 of the float64 sums (2.4e-7 by the bound in `degrees`), and the same on any number of threads.
    With a `sample` they are estimates, right on average, unless counting makes them exact: where all features have few
    values and the rows are below `MAX_ROWS`.

    >>> pair_sums([[0.0, 0], [0.25, 1], [1.0, 1]], radius=0.25)
    array([[4.5, 3. ],
           [3. , 5. ]])
    """
    rows = plain_rows("kernels.pair_sums", X)
    n_rows, n_features = rows.shape
    if n_rows < 2 or (sample is None and n_rows >= MAX_ROWS):
        raise DataError(f"kernels.pair_sums: needs 2 to {MAX_ROWS - 1} rows without a sample of pairs; got {n_rows}.")
    cut = cuts(radius, kind, nominal, n_features)
    by_similarity = kind == "similarity"
    if isinstance(rows, SparseRows) and rows.is_binary and n_rows < MAX_ROWS:
        return _from_fixed_point(counts.sums_from_ones(rows, cut, by_similarity))
    if sample is not None and not _all_counted(rows, cut, by_similarity):
        upper = continuous.sums_from_sample(rows, sample, cut, by_similarity, n_threads)
        return _symmetric(n_rows + (2.0 * sample.weight) * (upper / ONE))
    return _from_fixed_point(_all_sums(_by_column(rows), cut, by_similarity, n_threads))


def plain_rows(owner: str, X: ArrayLike | Rows | SparseRows) -> Float | SparseRows:
    """A table of finite or missing values, as kernels take it."""
    rows = X if isinstance(X, SparseRows) else SparseRows.of(X) if is_sparse(X) else np.asarray(X)
    if len(rows.shape) != 2:
        raise DataError(f"{owner}: X must be (n_rows, n_features); got shape {rows.shape}.")
    if np.isinf(rows.entries.data if isinstance(rows, SparseRows) else rows).any():
        raise DataError(f"{owner}: X holds infinite values; a scaled table has none.")
    return rows


def _by_column(rows: Float | SparseRows) -> Float | SparseRows:
    return rows if isinstance(rows, SparseRows) else np.ascontiguousarray(rows.T, dtype=np.float64)


def _all_counted(rows: Float | SparseRows, cut: Float, by_similarity: bool) -> bool:
    """Whether counting gives all sums; the first rows mostly show that it does not."""
    if rows.shape[0] >= MAX_ROWS:
        return False
    for n_rows in (min(HEAD, rows.shape[0]), rows.shape[0]):
        head = rows.head(n_rows) if isinstance(rows, SparseRows) else rows[:n_rows]
        few = counts.find_levels(_by_column(head), cut, by_similarity).n_levels > 0
        if not few.all():
            return False
    return True


def n_compared(X: Float | SparseRows, radius: ArrayLike, kind: str, *, nominal: Bool | None = None) -> int:
    """How many features of a scaled table have too many values for counting."""
    if isinstance(X, SparseRows) and X.is_binary:
        return 0
    n_features = int(X.shape[1])
    levels = counts.find_levels(_by_column(X), cuts(radius, kind, nominal, n_features), kind == "similarity")
    return n_features - len(levels.counted())


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


def _symmetric(upper: Float) -> Float:
    """A symmetric matrix from its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def _all_sums(columns: Float | SparseRows, cut: Float, by_similarity: bool, n_threads: int | None) -> Int:
    levels = counts.find_levels(columns, cut, by_similarity)
    by_counts = levels.counted()
    compared = np.ones(len(cut), dtype=bool)
    compared[by_counts] = False
    by_rows = np.flatnonzero(compared)
    order = np.concatenate([by_rows, by_counts])
    if len(by_rows):
        # Works in blocks of four, so it may meet a few of the counted pairs too, with the same result.
        how = (cut[order], by_similarity, len(by_rows), n_threads)
        if isinstance(columns, SparseRows):
            sums = continuous.sums_from_sparse(columns.columns(order), *how)
        else:
            sums = continuous.sums_from_values(columns[order], *how)
        sums[len(by_rows) :, len(by_rows) :] = counts.sums_from_levels(levels, by_counts, n_threads)
    else:
        sums = counts.sums_from_levels(levels, by_counts, n_threads)
    if np.array_equal(order, np.arange(len(order))):
        return sums
    place = np.argsort(order)
    full = np.triu(sums) + np.triu(sums, 1).T  # whole numbers
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

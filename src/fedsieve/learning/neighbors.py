"""The exact k nearest rows by Euclidean distance, ties to the lowest index, for dense and sparse tables.

Matrix products give every squared distance up to a known rounding error; rows that this error does not rule out are
measured again, directly. Which rows win therefore depends on neither BLAS nor threads nor the storage of the table.
The loops are in `kernels.nearest_rows`.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from fedsieve.arrays import Float, Int, Rows
from fedsieve.errors import DataError, ParameterError
from fedsieve.kernels.nearest_rows import nearest_dense_rows, nearest_sparse_rows
from fedsieve.kernels.threads import parallel_map
from fedsieve.values import dense

BLOCK_VALUES = 1 << 22
"""Products held at a time: 32 MB."""
PART = 128
"""Queries that a thread takes at a time."""


def nearest(rows: Rows, n_neighbors: int, queries: Rows = None, n_threads: int | None = None) -> Int:
    """The `n_neighbors` nearest of `rows` (n_rows, n_features) to each query, nearest first.

    Without `queries` the rows are compared with each other, and a row is not its own neighbor: it is left out by its
    index, so that a duplicate of it stays. The squared distance is Σ_f (q_f - x_f)² in float64, added in the order of
    the features; equal distances go to the lowest index. Values must be finite. Sparse rows are never made dense.
    Returns (n_queries, n_neighbors) of row indices.

    >>> rows = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> nearest(rows, 2)
    array([[1, 2],
           [2, 0],
           [1, 0],
           [1, 2]])
    >>> nearest(rows, 2, [[2.0]])
    array([[1, 2]])
    """
    rows = _table("rows", rows)
    others = rows if queries is None else _table("queries", queries)
    if rows.shape[1] != others.shape[1]:
        raise DataError(f"nearest: rows have {rows.shape[1]} features and queries {others.shape[1]}; give the same.")
    most = rows.shape[0] - (queries is None)
    among = "other rows" if queries is None else "rows"
    if not 1 <= n_neighbors <= most:
        raise ParameterError(
            f"nearest: n_neighbors must be at least 1 and at most {most}, the number of {among}; got {n_neighbors}."
        )
    search = _sparse if sparse.issparse(rows) else _dense
    return search(rows, others, n_neighbors, queries is None, n_threads)


def _dense(rows: Float, queries: Rows, n_neighbors: int, own: bool, n_threads: int | None) -> Int:
    rows, queries = _plain(rows), _plain(dense(queries))
    result = np.empty((len(queries), n_neighbors), dtype=np.int64)
    # Distances are the same around any center, and the error of the products is least around the middle.
    # Values near the limits of float64 overflow; the search then measures every row.
    with np.errstate(over="ignore", invalid="ignore"):
        center = rows.mean(axis=0)
        near, near_queries = rows - center, queries - center
        sizes, query_sizes = (near * near).sum(axis=1), (near_queries * near_queries).sum(axis=1)
    block = max(1, BLOCK_VALUES // len(rows))
    for first in range(0, len(queries), block):
        # BLAS has threads of its own, so it works alone; then ours share its products.
        with np.errstate(over="ignore", invalid="ignore"):
            products = near_queries[first : first + block] @ near.T

        def work(part: int, first: int = first, products: Float = products) -> None:
            some = products[part : part + PART]
            nearest_dense_rows(some, first + part, queries, rows, query_sizes, sizes, own, result)

        _run_over_queries(work, len(products), n_threads)
    return result


def _sparse(rows: Rows, queries: Rows, n_neighbors: int, own: bool, n_threads: int | None) -> Int:
    rows, queries = _sorted(rows), _sorted(queries)
    result = np.empty((queries.shape[0], n_neighbors), dtype=np.int64)
    with np.errstate(over="ignore"):
        sizes, query_sizes = ((table * table).sum(axis=1) for table in (rows, queries))
    by_row, by_query, by_column = _compressed(rows), _compressed(queries), _compressed(rows.tocsc())

    def work(first: int) -> None:
        last = min(first + PART, queries.shape[0])
        nearest_sparse_rows(first, last, rows.shape[1], by_query, by_row, by_column, query_sizes, sizes, own, result)

    _run_over_queries(work, queries.shape[0], n_threads)
    return result


def _run_over_queries(work: Callable[[int], None], n_queries: int, n_threads: int | None) -> None:
    for _ in parallel_map(work, range(0, n_queries, PART), n_threads):
        pass


def _table(name: str, table: Rows) -> Rows:
    table = table if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"nearest: {name} must have shape (n_rows, n_features); got {table.shape}.")
    return table


def _plain(table: Float) -> Float:
    """The layout the kernels are compiled for."""
    return np.require(table, dtype=np.float64, requirements=["C", "W"])


def _sorted(table: Rows) -> Rows:
    """A CSR array whose rows name their columns once, in order."""
    table = sparse.csr_array(table, dtype=np.float64)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def _compressed(table: Rows) -> tuple[Int, Int, Float]:
    return table.indptr.astype(np.int64), table.indices.astype(np.int64), _plain(table.data)

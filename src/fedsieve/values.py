"""The numbers of a table: whether they may be used, and looking at them in blocks.

Batches are numpy arrays or scipy sparse ones; of a sparse one only a block at a time is made dense.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fedsieve.arrays import Float, Int, Rows
from fedsieve.errors import DataError

LARGEST = 1e300  # beyond, a range would overflow
SPARSE_COLUMNS = 256  # of a sparse batch that are made dense at a time
LET_THE_METHOD = "Fill them in, or let the method: Sieve with missing='mean', SSFMLFS with missing='unrelated'."


def check_values(X: Rows, columns: Sequence[str], missing: str, way_out: str = LET_THE_METHOD) -> None:
    """Refuse infinite and far too large values, and missing ones where `missing="error"`.

    Names the column and the count.
    """
    check_batches([X], columns, missing, way_out)


def check_batches(batches: Iterable[Rows], columns: Sequence[str], missing: str, way_out: str = LET_THE_METHOD) -> None:
    """The same of a table that comes in batches."""
    infinite, beyond, gaps = np.zeros((3, len(columns)), dtype=np.int64)
    for batch in batches:
        if has_bad_values(batch, missing):
            for first, values in dense_blocks(batch):
                here = slice(first, first + values.shape[1])
                infinite[here] += np.isinf(values).sum(axis=0)
                beyond[here] += (np.abs(values) > LARGEST).sum(axis=0)
                gaps[here] += np.isnan(values).sum(axis=0)
    _refuse(infinite, "infinite (inf)", columns, "Replace them; they have no place in a range.")
    too_large = "Numbers so large overflow; replace them, or give the column in other units."
    _refuse(beyond, f"too large (beyond ±{LARGEST:g})", columns, too_large)
    if missing == "error":
        _refuse(gaps, "missing (NaN)", columns, way_out)


def has_bad_values(X: Rows, missing: str) -> bool:
    """Whether some value is infinite or far too large, or missing where none may be."""
    values = X.data if is_sparse(X) else X
    if not values.size:
        return False
    low, high = values.min(), values.max()  # NaN where one is missing; much faster than what passes over NaN
    if np.isnan(high) and missing != "error":
        low, high = np.fmin.reduce(values, axis=None, initial=0.0), np.fmax.reduce(values, axis=None, initial=0.0)
    return not (low >= -LARGEST and high <= LARGEST)


def _refuse(per_column: Int, what: str, columns: Sequence[str], way_out: str) -> None:
    if per_column.any():
        first = int(np.flatnonzero(per_column)[0])
        count, n_others = int(per_column[first]), int((per_column > 0).sum()) - 1
        more = f" and {n_others} more column{'s' * (n_others > 1)}" if n_others else ""
        raise DataError(f"{count} {what} value{'s' * (count > 1)} in column {columns[first]!r}{more}. {way_out}")


def present_values(values: Float) -> Float:
    """Those that are not missing; the column itself where none is."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def row_blocks(rows: Float, n_values: int = 1 << 16) -> Iterator[Float]:
    """Rows of a batch, so many values at a time that they stay in cache from one look at them to the next."""
    step = max(1, n_values // max(1, rows.shape[1]))
    return (rows[start : start + step] for start in range(0, len(rows), step))


def dense_blocks(batch: Rows) -> Iterator[tuple[int, Float]]:
    """All columns of a batch as ndarrays, each with the place of its first column; of a sparse batch some at a time."""
    by_column, width = (batch.tocsc(), SPARSE_COLUMNS) if is_sparse(batch) else (batch, max(1, batch.shape[1]))
    for first in range(0, batch.shape[1], width):
        yield first, dense(by_column[:, first : first + width])


def is_sparse(table: Rows) -> bool:
    """Whether it is a scipy sparse table; says so without importing scipy, which takes a site's process longer."""
    return not isinstance(table, np.ndarray) and hasattr(table, "tocsr")


def dense(table: Rows) -> Float:
    """The table as an ndarray."""
    array: Float = table.toarray() if is_sparse(table) else table
    return array

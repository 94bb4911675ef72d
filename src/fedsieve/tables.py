"""A site's table behind one face: named columns, read in batches of rows. Arrays, sparse matrices and data frames.

What adds up is computed batch by batch, so that a table may be larger than memory; what compares all pairs of rows
reads the whole. A further kind of table says how to read some rows of some columns, and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Rows
from fedsieve.errors import DataError, listed

LARGEST = 1e300  # beyond, a range would overflow
SPARSE_COLUMNS = 256  # of a sparse batch that are made dense at a time
BATCH_VALUES = 1 << 24  # values in a batch unless the table says how many rows


class Table(ABC):
    """Named columns of numbers; labels, where a site holds any, are columns too."""

    names: tuple[str, ...]
    n_rows: int
    batch_rows: int | None = None  # None: as many as fit into BATCH_VALUES

    @abstractmethod
    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """The rows from `start` to `stop` in these columns, in this order; dense or sparse."""

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """All rows in these columns, `size` rows at a time; a table without rows is one empty batch."""
        self._check_present(columns)
        size = size or self.batch_rows or max(1, BATCH_VALUES // max(1, len(columns)))
        for start in range(0, max(self.n_rows, 1), size):
            yield self.read(columns, start, min(start + size, self.n_rows))

    def whole(self, columns: Sequence[str]) -> Rows:
        """All rows at once, for what compares rows with each other."""
        self._check_present(columns)
        return self.read(columns, 0, self.n_rows)

    def _check_present(self, columns: Sequence[str]) -> None:
        known = set(self.names)
        absent = [name for name in columns if name not in known]
        if absent:
            raise DataError(f"no column {listed(absent)} here. Check this site's columns against the plan's list.")


class ArrayTable(Table):
    """Rows in memory, a numpy array or a scipy sparse one, and 0/1 labels beside them where a site holds any."""

    def __init__(
        self,
        features: Sequence[str],
        X: Rows,
        labels: Sequence[str] = (),
        Y: Float | None = None,
        *,
        batch_rows: int | None = None,
    ) -> None:
        self.features, self.labels = tuple(features), tuple(labels) if Y is not None else ()
        self.names = self.features + self.labels
        self.n_rows = int(X.shape[0])
        self.batch_rows = batch_rows
        self._X, self._Y = X, Y
        self._place = {name: index for index, name in enumerate(self.names)}

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Slices where it can, copies where columns are reordered."""
        if tuple(columns) == self.features:
            return self._X[start:stop]
        place = np.array([self._place[name] for name in columns], dtype=np.int64)
        of_labels = place >= len(self.features)
        if not of_labels.any():
            return self._X[start:stop][:, place]
        assert self._Y is not None
        rows = np.empty((stop - start, len(place)))
        rows[:, ~of_labels] = dense(self._X[start:stop][:, place[~of_labels]])
        rows[:, of_labels] = self._Y[start:stop][:, place[of_labels] - len(self.features)]
        return rows


class FrameTable(Table):
    """A pandas or polars data frame, converted to numbers a batch at a time."""

    def __init__(self, frame: Any, *, batch_rows: int | None = None) -> None:
        self.names = tuple(frame.columns)
        self.n_rows = len(frame)
        self.batch_rows = batch_rows
        self._frame = frame

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Column by column: pandas' nullable types convert only so."""
        rows = np.empty((stop - start, len(columns)))
        for place, name in enumerate(columns):
            series = self._frame[name]
            part = series.iloc[start:stop] if hasattr(series, "iloc") else series[start:stop]
            rows[:, place] = np.asarray(part, dtype=np.float64)
        return rows


def checked_batches(table: Table, columns: Sequence[str], missing: str, width: int | None = None) -> Iterator[Rows]:
    """The batches of a table whose values may be used: finite, and present where `missing="error"`.

    `width` is how many numbers become of a row, where it is more than its columns.
    """
    size = table.batch_rows or (None if width is None else max(1, BATCH_VALUES // max(1, width)))
    for batch in table.batches(columns, size):
        if has_bad_values(batch, missing):
            check_values(table.whole(columns), columns, missing)  # counts them in all rows
        yield batch


LET_THE_METHOD = "Fill them in, or let the method: Sieve with missing='mean', SSFMLFS with missing='unrelated'."


def check_values(X: Rows, columns: Sequence[str], missing: str, way_out: str = LET_THE_METHOD) -> None:
    """Refuse infinite and far too large values, and missing ones where `missing="error"`.

    Names the column and the count.
    """
    if not has_bad_values(X, missing):
        return
    values = dense(X)
    _refuse(np.isinf(values), "infinite (inf)", columns, "Replace them; they have no place in a range.")
    beyond = "Numbers so large overflow; replace them, or give the column in other units."
    _refuse(np.abs(values) > LARGEST, f"too large (beyond ±{LARGEST:g})", columns, beyond)
    if missing == "error":
        _refuse(np.isnan(values), "missing (NaN)", columns, way_out)


def has_bad_values(X: Rows, missing: str) -> bool:
    """Whether some value is infinite or far too large, or missing where none may be."""
    values = X.data if is_sparse(X) else X
    largest = np.maximum if missing == "error" else np.fmax  # the former passes NaN on
    return bool(values.size) and not largest.reduce(np.abs(values), axis=None, initial=0.0) <= LARGEST


def _refuse(bad: Bool, what: str, columns: Sequence[str], way_out: str) -> None:
    per_column = bad.sum(axis=0)
    if per_column.any():
        first = int(np.flatnonzero(per_column)[0])
        count, n_others = int(per_column[first]), int((per_column > 0).sum()) - 1
        more = f" and {n_others} more column{'s' * (n_others > 1)}" if n_others else ""
        raise DataError(f"{count} {what} value{'s' * (count > 1)} in column {columns[first]!r}{more}. {way_out}")


def usual_value(values: Float) -> tuple[float, int]:
    """The most frequent present value, the smallest where several are, and how many present values differ from it.

    >>> usual_value(np.array([2.0, 0.0, 2.0, np.nan]))
    (2.0, 1)
    """
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if not len(distinct):
        return np.nan, 0
    return float(distinct[np.argmax(counts)]), int(counts.sum() - counts.max())


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

"""A site's table behind one face: named columns, read in batches of rows. Arrays, sparse matrices and data frames.

What adds up is computed batch by batch, so that a table may be larger than memory; what compares all pairs of rows
reads the whole, or of a table that is streamed some rows. A further kind of table says how to read some rows of some
columns, or, if it can only be read from its beginning, how to go through it; and nothing else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.errors import DataError, listed
from fedsieve.values import check_batches, dense, has_bad_values, is_sparse

Sum = TypeVar("Sum")
SPARSE_VALUES = 1 << 19  # in a batch of a sparse table, which is made dense with several copies
MOST_ROWS = 1 << 53  # of one site: beyond, floats do not count each
BATCH_VALUES = 1 << 24  # values in a batch unless the table says otherwise
MOST_COMPARED = 1 << 14  # rows of a streamed table that are compared with each other
STREAMED_VALUES = 1 << 21  # in a batch of a table that is not in memory


class Table(ABC):
    """Named columns of numbers; labels, where a site holds any, are columns too."""

    names: tuple[str, ...]
    n_rows: int
    batch_rows: int | None = None  # None: as many as memory has room for
    sparse: bool = False  # whether batches are, and become larger when they are made dense
    streamed: bool = False  # whether it may be larger than memory
    elsewhere: bool = False  # whether its parts lie in other places, and answer there
    seed: bytes = b""  # its site's secret, from which a streamed table draws the rows that are compared

    @abstractmethod
    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """The rows from `start` to `stop` in these columns, in this order; dense or sparse."""

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """All rows in these columns, `size` rows at a time; a table without rows is one empty batch."""
        self._check_present(columns)
        size = size or self.rows_at_a_time(len(columns))
        for start in range(0, max(self.n_rows, 1), size):
            yield self.read(columns, start, min(start + size, self.n_rows))

    def rows_at_a_time(self, width: int) -> int:
        """How many rows a batch has, if so many numbers become of each."""
        most = STREAMED_VALUES if self.streamed else SPARSE_VALUES if self.sparse else BATCH_VALUES
        return self.batch_rows or max(1, most // max(1, width))

    def whole(self, columns: Sequence[str]) -> Rows:
        """All rows at once, for what compares rows with each other."""
        self._check_present(columns)
        return self.read(columns, 0, self.n_rows)

    def rows_at(self, chosen: Int, columns: Sequence[str]) -> Rows:
        """The rows at these places, in order."""
        parts, place = [], 0
        for batch in self.batches(columns):
            first, last = np.searchsorted(chosen, [place, place + batch.shape[0]])
            parts.append(dense(batch[chosen[first:last] - place]))
            place += batch.shape[0]
        return np.concatenate(parts)

    def drawing_from(self, seed: bytes) -> "Table":
        """The same rows, of which those that are compared are drawn from this; in memory all are compared."""
        if not self.streamed:
            return self
        table = copy(self)  # whoever gave the table may draw from another seed next time
        table.seed = seed
        return table

    def in_parts(self, answer: Callable[["Table"], Sum]) -> Sum | None:  # noqa: ARG002
        """What the parts of a table answer, added up, where its parts lie in several places; `None` elsewhere."""
        return None

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
        self.sparse = is_sparse(X)
        self._X, self._Y = X, Y
        self._place = {name: index for index, name in enumerate(self.names)}

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Slices where it can, copies where columns are reordered."""
        if tuple(columns) == self.features:  # a slice of a sparse array is a copy
            return self._X if (start, stop) == (0, self.n_rows) else self._X[start:stop]
        place = np.array([self._place[name] for name in columns], dtype=np.int64)
        of_labels = place >= len(self.features)
        if not of_labels.any():
            return self._X[start:stop][:, place]
        assert self._Y is not None
        rows = np.empty((stop - start, len(place)))
        rows[:, ~of_labels] = dense(self._X[start:stop][:, place[~of_labels]])
        rows[:, of_labels] = self._Y[start:stop][:, place[of_labels] - len(self.features)]
        return rows


class StreamedTable(Table):
    """A table that is read from its beginning, in parts of any size; larger than memory, perhaps."""

    streamed = True

    @abstractmethod
    def parts(self, columns: Sequence[str], size: int) -> Iterator[Float]:
        """All rows in these columns, in order, some at a time: about `size` where the table can choose."""

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """The parts, none of more than `size` rows."""
        self._check_present(columns)
        size, n_rows = size or self.rows_at_a_time(len(columns)), 0
        for part in self.parts(columns, size):
            for start in range(0, len(part), size):
                yield part[start : start + size]
            n_rows += len(part)
        if n_rows != self.n_rows:
            raise DataError(f"the table has {n_rows} rows now, and had {self.n_rows}. It must not change meanwhile.")
        if not n_rows:
            yield np.empty((0, len(columns)))

    def read(self, columns: Sequence[str], start: int, stop: int) -> Float:
        """Goes through the table up to there."""
        rows, place = np.empty((stop - start, len(columns))), 0
        for batch in self.batches(columns):
            first, last = max(start, place), min(stop, place + len(batch))
            if first < last:
                rows[first - start : last - start] = batch[first - place : last - place]
            place += len(batch)
            if place >= stop:
                break
        return rows


class ChosenRows(Table):
    """Some rows of another table, by a mask."""

    def __init__(self, table: Table, chosen: Bool) -> None:
        self.names, self.n_rows = table.names, int(chosen.sum())
        self.batch_rows, self.sparse = table.batch_rows, table.sparse
        self.streamed, self.seed = table.streamed, table.seed
        self._table, self._chosen = table, chosen

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Reads what lies between the first and the last of them, and leaves out the others."""
        if start >= stop:
            return self._table.read(columns, 0, 0)
        first, last = (int(place) for place in self._place[[start, stop - 1]] + [0, 1])
        return self._table.read(columns, first, last)[self._chosen[first:last]]

    @cached_property
    def _place(self) -> Int:
        return np.flatnonzero(self._chosen)

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """Those of the table, as far as they are chosen."""
        place = 0
        for batch in self._table.batches(columns, size):
            yield batch[self._chosen[place : place + batch.shape[0]]]
            place += batch.shape[0]


class ChosenColumns(Table):
    """Some columns of another table."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.names, self.n_rows = tuple(names), table.n_rows
        self.batch_rows, self.sparse = table.batch_rows, table.sparse
        self.streamed, self.seed = table.streamed, table.seed
        self._table = table

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """As they are there."""
        return self._table.read(columns, start, stop)

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """Those of the table, which may only be read from its beginning."""
        self._check_present(columns)
        return self._table.batches(columns, size)


class SideBySide(Table):
    """The columns of two tables of the same rows, of which the first may be larger than memory."""

    def __init__(self, first: Table, second: Table) -> None:
        self.names, self.n_rows = first.names + second.names, first.n_rows
        self.batch_rows, self.sparse = first.batch_rows, first.sparse
        self.streamed, self.seed = first.streamed, first.seed
        self._first, self._second = first, second

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Each column from where it is."""
        known = set(self._second.names)
        beside = np.array([name in known for name in columns], dtype=bool)
        if not beside.any():
            return self._first.read(columns, start, stop)
        rows = np.empty((stop - start, len(columns)))
        for table, here in ((self._first, ~beside), (self._second, beside)):
            some = [name for name, is_here in zip(columns, here, strict=True) if is_here]
            rows[:, here] = dense(table.read(some, start, stop))
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


def rows_to_compare(table: Table, columns: Sequence[str]) -> Rows:
    """The rows for what compares each with each: all, or of a streamed table of more than `MOST_COMPARED` a sample.

    It is drawn evenly, and of one table always the same, in all runs: of two samples the difference would tell of
    single rows. Nobody else knows which rows it has, since it is drawn from the site's secret.
    """
    chosen = compared_rows(table)
    if chosen is None:
        return table.whole(columns)
    return table.rows_at(chosen, columns)


def compared_rows(table: Table) -> Int | None:
    """Which rows of a streamed table are compared, in order; `None` where all are."""
    n_rows, n_compared = table.n_rows, n_surely_compared(table.n_rows)
    if not table.streamed or n_compared == n_rows:
        return None
    rng = np.random.default_rng([int.from_bytes(table.seed), n_rows])
    return np.sort(rng.choice(n_rows, n_compared, replace=False))


def n_surely_compared(n_rows: int) -> int:
    """Of so many rows those that are compared with each other, even if the table is streamed."""
    return min(n_rows, MOST_COMPARED)


def checked_batches(table: Table, columns: Sequence[str], missing: str, width: int | None = None) -> Iterator[Rows]:
    """The batches of a table whose values may be used: finite, and present where `missing="error"`.

    `width` is how many numbers become of a row, where it is more than its columns.
    """
    size = table.rows_at_a_time(len(columns) if width is None else width)
    for batch in table.batches(columns, size):
        if has_bad_values(batch, missing):
            check_batches(table.batches(columns, size), columns, missing)  # counts them in all rows
        yield batch

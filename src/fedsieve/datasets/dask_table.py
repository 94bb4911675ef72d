"""A table that is partitioned over the workers of a cluster: each partition answers where it lies, and answers add up.

From a Dask data frame or array, on whatever scheduler Dask uses: one that a `distributed.Client` is connected to, or
threads of this process. What comes back is a sum, never rows, but for messages that compare rows or need a column as a
whole; these read partition by partition, or a sample of rows. A worker that dies costs the time to compute its
partitions again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import repeated
from fedsieve.errors import DataError, extra_needed, listed, occur_twice
from fedsieve.tables import ArrayTable, StreamedTable, Table

FAN_IN = 8  # answers that are added up at a time
Sum = TypeVar("Sum")


def is_dask(table: Any) -> bool:
    """Whether it is a Dask collection; says so without importing Dask."""
    return hasattr(table, "__dask_graph__")


@dataclass(frozen=True)
class Layout:
    """The columns of a collection: how many, and of a frame its own labels, which need not be text."""

    n_columns: int
    labels: tuple[Any, ...] = ()

    def check(self, part: Any) -> None:
        """Refuse a partition, or a block of an array, of other columns."""
        if not hasattr(part, "iloc"):
            if part.shape[1] != self.n_columns:
                must, has = self.n_columns, part.shape[1]
                raise DataError(
                    f"blocks of a Dask array must have {must} columns; one has {has}. State the true shape where the "
                    "array is made: dask.array.from_delayed(value, shape, dtype)."
                )
        elif Counter(part.columns) != Counter(self.labels):
            lacks, has = Counter(self.labels) - Counter(part.columns), Counter(part.columns) - Counter(self.labels)
            both = (("missing", lacks), ("extra", has))
            words = "; ".join(f"{word}: {listed([str(name) for name in some])}" for word, some in both if some)
            raise DataError(
                f"a partition has other columns than the Dask table says ({words}). Make them the same: "
                "frame.map_partitions(lambda part: part[names])."
            )

    def places(self, part: Any) -> Sequence[int]:
        """Where a partition has the frame's columns, in whatever order they are there."""
        there = tuple(part.columns)
        return range(self.n_columns) if there == self.labels else [there.index(label) for label in self.labels]


class DaskTable(StreamedTable):
    """The partitions of a Dask data frame, or the blocks of rows of a Dask array; columns are numbers.

    Columns of an array, and of a frame that only numbers them, are x0, x1, ... as in other tables without names.
    """

    elsewhere = True

    def __init__(self, collection: Any) -> None:
        self._dask = _dask()
        kind, ndim = type(collection), getattr(collection, "ndim", 0)  # what is delayed has any attribute, its kind not
        if hasattr(kind, "partitions") and hasattr(kind, "columns") and ndim == 2:
            self._partitions, columns = list(collection.to_delayed()), tuple(collection.columns)
            self._layout = Layout(len(columns), columns)
        elif hasattr(kind, "rechunk") and ndim == 2:
            blocks = collection.rechunk({1: -1}).to_delayed()
            self._partitions, columns = list(blocks[:, 0]), tuple(range(collection.shape[1]))
            self._layout = Layout(len(columns))
        else:
            raise DataError(
                f"of Dask, data frames and arrays of two dimensions are tables; got {kind.__name__}. Make one of it, "
                "as series.to_frame() or dask.dataframe.from_delayed do."
            )
        named = all(isinstance(name, str) for name in columns)
        self.names = columns if named else tuple(f"x{place}" for place in range(len(columns)))
        if twice := sorted(repeated(self.names)):
            raise DataError(f"columns of a Dask table must have different names; {occur_twice(twice)}. Rename them.")
        if hasattr(kind, "dtypes"):
            _check_numbers(self.names, collection.dtypes)
        sizes = self._dask.compute(*(self._dask.delayed(_n_rows)(part, self._layout) for part in self._partitions))
        self._starts: Int = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_rows = int(self._starts[-1])

    def parts(self, columns: Sequence[str], size: int) -> Iterator[Float]:  # noqa: ARG002
        """One partition after the other comes here: for what cannot be added up."""
        for part in self._partitions:
            yield self._dask.compute(self._dask.delayed(_numbers)(part, self._layout, self._places(columns)))[0]

    def in_parts(self, answer: Callable[[Table], Sum]) -> Sum | None:
        """The sum of what the partitions answer, each on its worker; added in a tree, so that only one comes back."""
        if not self.n_rows:
            return None
        answers = [
            self._dask.delayed(_answered)(answer, part, self._layout, self.names)
            for part, n_rows in zip(self._partitions, np.diff(self._starts), strict=True)
            if n_rows
        ]
        while len(answers) > 1:
            groups = [answers[start : start + FAN_IN] for start in range(0, len(answers), FAN_IN)]
            answers = [self._dask.delayed(_added)(group) for group in groups]
        total: Sum = self._dask.compute(answers[0])[0]
        return total

    def rows_at(self, chosen: Int, columns: Sequence[str]) -> Float:
        """Some rows, from each partition those that lie there."""
        ends = np.searchsorted(chosen, self._starts)
        taken = [
            self._dask.delayed(_some)(part, self._layout, self._places(columns), chosen[first:last] - start)
            for part, start, first, last in zip(self._partitions, self._starts[:-1], ends[:-1], ends[1:], strict=True)
            if first < last
        ]
        return np.concatenate([np.empty((0, len(columns))), *self._dask.compute(*taken)])

    def _places(self, columns: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.names.index(name) for name in columns)


def _dask() -> Any:
    try:
        import dask
    except ImportError:
        raise extra_needed("tables on a cluster", "dask", "dask") from None
    return dask


def _check_numbers(names: tuple[str, ...], kinds: Iterable[Any]) -> None:
    for name, kind in zip(names, kinds, strict=True):
        if getattr(kind, "kind", "O") not in "biuf":
            raise DataError(f"columns of a Dask table must hold numbers; {name!r} holds {kind}. Encode or drop it.")


def _n_rows(part: Any, layout: Layout) -> int:
    """Runs on a worker: only there it shows what partitions and blocks of an array are."""
    if hasattr(part, "todense"):
        raise DataError(
            f"blocks of a Dask array must be dense; these are {type(part).__name__}. Make them so: "
            "array.map_blocks(lambda block: block.toarray())."
        )
    if isinstance(part, np.ma.MaskedArray):
        raise DataError(
            "blocks of a Dask array must have no mask: values behind it would count. Pass NaN instead: "
            "dask.array.ma.filled(array.astype(float), np.nan)."
        )
    layout.check(part)
    if not hasattr(part, "iloc") and not _holds_numbers(part):
        raise DataError(f"blocks of a Dask array must hold numbers; these hold {part.dtype}. Encode it as numbers.")
    return len(part)


def _holds_numbers(block: Any) -> bool:
    if block.dtype.kind != "O":
        return block.dtype.kind in "biuf"
    try:
        np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError):  # whose words would show the value
        return False
    return True


def _numbers(part: Any, layout: Layout, columns: tuple[int, ...]) -> Float:
    """Runs on a worker. Nobody but Dask's user knows that a partition is what the collection says of it."""
    if not hasattr(part, "iloc"):
        return np.asarray(part, dtype=np.float64)[:, columns]
    places, numbers = layout.places(part), np.empty((len(part), len(columns)))
    for column, place in enumerate(columns):
        try:
            numbers[:, column] = part.iloc[:, places[place]].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):  # whose words would show the value
            name = layout.labels[place]
            raise DataError(
                f"columns of a Dask table must hold numbers; in a partition {name!r} holds others. Encode or drop it."
            ) from None
    return numbers


def _answered(answer: Callable[[Table], Sum], part: Any, layout: Layout, names: tuple[str, ...]) -> Sum:
    """Runs on a worker."""
    return answer(ArrayTable(names, _numbers(part, layout, tuple(range(len(names))))))


def _some(part: Any, layout: Layout, columns: tuple[int, ...], rows: Int | Bool) -> Float:
    """Runs on a worker."""
    return _numbers(part, layout, columns)[rows]


def _added(answers: list[Any]) -> Any:
    """Runs on a worker."""
    return reduce(add, answers)

"""A site's rows in a file, column after column: written and read batch by batch, or some rows out of all.

The file is a plain `.npy` of Fortran order. A table larger than memory is answered for from it.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError
from fedsieve.reading import read_array_head
from fedsieve.tables import Table
from fedsieve.values import dense

LARGE = 1 << 28  # bytes from which on prepared rows are not loaded as a whole


def write_columns(path: Path, table: Table) -> None:
    """All rows of a table, in its columns; needs room for one batch."""
    shape = (table.n_rows, len(table.names))
    with path.open("r+b" if path.exists() else "w+b") as file:
        np.lib.format.write_array_header_1_0(
            file,
            {"descr": "<f8", "fortran_order": True, "shape": shape},
        )
        start, first = file.tell(), 0
        file.truncate(start + 8 * math.prod(shape))
        for batch in table.batches(table.names):
            rows = dense(batch)
            for place in range(shape[1]):
                file.seek(start + 8 * (place * shape[0] + first))
                file.write(np.ascontiguousarray(rows[:, place], dtype="<f8").data)
            first += len(rows)


class StoredRows(Table):
    """The rows of such a file."""

    streamed = True

    def __init__(self, path: Path, names: Sequence[str], *, way_out: str = "") -> None:
        shape, self._start = read_array_head(path, way_out=way_out, n_columns=len(names))
        self.names, self.n_rows, self.path = tuple(names), shape[0], path
        self._place = {name: place for place, name in enumerate(self.names)}

    def read(self, columns: Sequence[str], start: int, stop: int) -> Float:
        """From each column's own piece of the file."""
        rows = np.empty((stop - start, len(columns)), dtype="<f8", order="F")
        with self.path.open("rb") as file:
            for place, name in enumerate(columns):
                file.seek(self._start + 8 * (self._place[name] * self.n_rows + start))
                if file.readinto(rows[:, place].data) != 8 * (stop - start):
                    raise self._is_cut()
        return rows

    def rows_at(self, chosen: Int, columns: Sequence[str]) -> Float:
        """Only these are read."""
        rows = np.empty((len(chosen), len(columns)), order="F")
        if not self.n_rows:
            return rows
        for place, name in enumerate(columns):
            try:
                start = self._start + 8 * self._place[name] * self.n_rows
                column = np.memmap(self.path, dtype="<f8", mode="r", offset=start, shape=(self.n_rows,))
            except ValueError as error:
                raise self._is_cut() from error
            rows[:, place] = column[chosen]
        return rows

    def _is_cut(self) -> DataError:
        return DataError(f"{self.path}: is cut, and had all rows when it was opened. Join again.")

"""Rows of which most values of a column are the same: the others are stored, and nothing is made dense but blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int, Rows

BLOCK_VALUES = 1 << 20  # that are dense at a time


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A scipy CSR array of the values that differ from their column's `usual` one, each stored once."""

    entries: Any
    usual: Float  # (n_columns,)

    @classmethod
    def of(cls, table: Rows) -> "SparseRows":
        """From any scipy sparse table, whose usual value is 0; one that is stored well is not copied.

        >>> from scipy import sparse
        >>> SparseRows.of(sparse.csr_array([[0, 2.0], [0, 0]])).at(np.array([1, 0]))
        array([[0., 0.],
               [0., 2.]])
        """
        from scipy import sparse  # a site with a dense table need not load it

        entries = sparse.csr_array(table, dtype=np.float64)
        if not entries.has_canonical_format:  # a value may be stored in parts
            entries = entries.copy()
            entries.sum_duplicates()
        return cls(entries, np.zeros(entries.shape[1]))

    @classmethod
    def of_columns(cls, n_rows: int, columns: Iterable[tuple[Int, Float]]) -> "SparseRows":
        """From columns one after the other: rows, and their values with the usual one last."""
        from scipy import sparse

        places, values, usual = [], [], []
        for rows, cells in columns:
            kept = cells[:-1] != cells[-1]
            places.append(rows[kept])
            values.append(cells[:-1][kept])
            usual.append(cells[-1])
        ends = np.cumsum([0, *map(len, places)])
        entries = (np.concatenate(values), np.concatenate(places), ends)
        return cls(sparse.csc_array(entries, shape=(n_rows, len(usual))).tocsr(), np.array(usual))

    def by_column(self) -> "SparseColumns":
        """The same, to be read by columns."""
        return SparseColumns(self.entries.tocsc(), self.usual)

    def changed(self, values: Float, usual: Float) -> "SparseRows":
        """The same places with other values, and another usual one of each column."""
        from scipy import sparse

        old, place = self.entries, self.entries.indices
        entries = sparse.csr_array((values, place, old.indptr), shape=old.shape)
        if np.any(values == usual[place]):
            kept = values != usual[place]
            ends = np.concatenate([[0], np.cumsum(kept)])[old.indptr]
            entries = sparse.csr_array((values[kept], place[kept], ends), shape=old.shape)
        return SparseRows(entries, usual)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = self.entries.shape
        return int(n_rows), int(n_columns)

    @property
    def n_entries(self) -> int:
        """How many values are stored."""
        return int(self.entries.nnz)

    @property
    def is_binary(self) -> bool:
        """Whether all is 0, or stored and 1."""
        return bool(np.all(self.entries.data == 1) and not self.usual.any())

    def columns(self, chosen: Int) -> "SparseRows":
        """Some columns, in this order."""
        return SparseRows(self.entries[:, chosen], self.usual[chosen])

    def head(self, n_rows: int) -> "SparseRows":
        """The first rows."""
        return SparseRows(self.entries[:n_rows], self.usual)

    def at(self, chosen: Int | slice) -> Float:
        """Some rows, dense."""
        return _dense(self.entries[chosen], self.usual)

    def column_blocks(self) -> Iterator[tuple[int, Float]]:
        """All columns, as (some columns, n_rows), each block with the place of its first column."""
        by_column, (n_rows, n_columns) = self.entries.tocsc(), self.shape
        width = max(1, BLOCK_VALUES // max(1, n_rows))
        for first in range(0, n_columns, width):
            here = slice(first, first + width)
            yield first, np.ascontiguousarray(_dense(by_column[:, here].tocsr(), self.usual[here]).T)


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """The same as a CSC array, for what reads one column after the other."""

    entries: Any
    usual: Float  # (n_columns,)

    @classmethod
    def of_batches(cls, batches: Iterable[Rows]) -> "SparseColumns":
        """From a table that comes in batches of rows, sparse or not; the usual value is 0."""
        from scipy import sparse

        rows = SparseRows.of(sparse.vstack([sparse.csr_array(batch) for batch in batches], format="csr"))
        return rows.by_column()

    def rows(self, place: int) -> Int:
        """Where a column has entries."""
        rows: Int = self.entries.indices[self.within(place)]
        return rows

    def cells(self, place: int) -> Float:
        """Its entries, and last the value of all other rows, or of one with an entry where there are no others."""
        values = self.entries.data[self.within(place)]
        no_others = 0 < len(values) == self.entries.shape[0]
        return np.append(values, values[0] if no_others else self.usual[place])

    def column(self, place: int) -> Float:
        """All its values."""
        return spread_out(self.entries.shape[0], self.rows(place), self.cells(place))

    def __iter__(self) -> Iterator[Float]:
        return (self.column(place) for place in range(self.entries.shape[1]))

    def within(self, place: int) -> slice:
        """Where its entries are stored."""
        return slice(*self.entries.indptr[place : place + 2])


def spread_out(n_rows: int, rows: Int, cells: Float) -> Float:
    """All values of a column, from those of some rows and last that of the others."""
    values = np.full(n_rows, cells[-1])
    values[rows] = cells[:-1]
    return values


def _dense(entries: Any, usual: Float) -> Float:
    values = np.repeat(usual[None], entries.shape[0], axis=0)
    values[np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr)), entries.indices] = entries.data
    return values

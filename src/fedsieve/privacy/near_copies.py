"""Columns that are multiples of another one but in a few rows, which the difference of both would tell.

Of a sparse table only entries are compared. Of a table larger than memory they are found in `streamed_copies`
and `streamed_gaps`.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.sparse_rows import BLOCK_VALUES, SparseRows, spread_out
from fedsieve.value_counts import usual_value

CLOSE = 1e-9  # to 1: the correlation of columns that are multiples of each other
MISSING = np.nan  # in place of a code: where a value is missing


@dataclass(frozen=True)
class Compared:
    """The columns of a table as they are compared with each other, by their places.

    `cells` are the values of a column: of all rows or, of a sparse table, of the rows that are `stored` and last that
    of all others.
    """

    names: Sequence[str]
    n_rows: int
    cells: Callable[[int], Float]
    stored: Callable[[int], Int] | None = None

    def column(self, place: int) -> Float:
        """All values of a column."""
        cells = self.cells(place)
        return cells if self.stored is None else spread_out(self.n_rows, self.stored(place), cells)

    def blocks(self) -> Iterator[tuple[int, Float]]:
        """All columns, as (n_rows, some columns), each block with the place of its first; of a dense table one."""
        n = len(self.names)
        width = n if self.stored is None else max(1, BLOCK_VALUES // self.n_rows)
        for first in range(0, n, width):
            yield first, np.column_stack([self.column(place) for place in range(first, min(first + width, n))])


def near_copies(compared: Compared, coded: Set[str], constant: Set[str], min_cell: int) -> Iterator[tuple[str, str]]:
    """Near copies, each with the column before it that it is a copy of.

    Every code is a 0/1 column of its own, and so is which values are missing.
    """
    names = compared.names
    parts: list[_Part] = []
    for place, name in enumerate(names):
        cells = compared.cells(place)
        missing = np.isnan(cells)
        if name not in constant:
            codes = np.unique(cells[~missing]).tolist() if name in coded else [None]
            parts += [(place, code) for code in codes]
        if missing.any():
            parts.append((place, MISSING))
    if parts:
        for first, second in _pairs(compared, parts, min_cell - 1):
            owner, copy = names[parts[first][0]], names[parts[second][0]]
            if owner != copy:
                yield copy, owner


_Part = tuple[int, float | None]
"""The place of a column, and one of its codes, MISSING, or None for the column itself."""


def _part(compared: Compared, part: _Part) -> Float:
    place, code = part
    cells = compared.cells(place)
    if code is None:
        return cells
    missing = np.isnan(cells)
    return missing.astype(np.float64) if np.isnan(code) else np.where(missing, np.nan, cells == code)


def _pairs(compared: Compared, parts: list[_Part], most: int) -> Iterator[tuple[int, int]]:
    stored = compared.stored
    table: Float | SparseRows
    if stored is not None:
        columns = ((stored(part[0]), _part(compared, part)) for part in parts)
        table = SparseRows.of_columns(compared.n_rows, columns)
    else:
        table = np.column_stack([_part(compared, part) for part in parts])
    yield from kernels.near_copies(table, most).tolist()


def copies_with_gaps(compared: Compared, constant: Set[str], min_cell: int) -> Iterator[tuple[str, str]]:
    """Columns that miss values, each with one that it is a multiple of elsewhere and that has a few odd rows there.

    Whatever stands in for the missing values, and with the column that tells where they are, the difference of both is
    nil but in these rows.
    """
    names, missing = compared.names, (np.isnan(compared.cells(place)) for place in range(len(compared.names)))
    with_gaps = [place for place, gaps in enumerate(missing) if gaps.any() and not gaps.all()]
    if not with_gaps:
        return
    found = [
        (place, other)
        for place, other, in_gaps in _in_blocks(compared, with_gaps)
        if names[other] not in constant and 0 < usual_value(in_gaps).n_others < min_cell
    ]
    for place, other in sorted(found):
        yield names[place], names[other]


def _in_blocks(compared: Compared, with_gaps: Sequence[int]) -> Iterator[tuple[int, int, Float]]:
    """Columns with gaps, multiples of these elsewhere, and what the multiples are in the gaps."""
    for first, block in compared.blocks():
        for place in with_gaps:
            column = compared.column(place)
            gaps = np.isnan(column)
            for other in multiples(block[~gaps], column[~gaps]):
                if first + other != place:
                    yield place, first + other, block[gaps, other]


def multiples(others: Float, column: Float) -> list[int]:
    """The columns that are multiples of one, in rows in which that has values."""
    rest, own = others - others.mean(axis=0), column - column.mean()  # NaN where the other misses values, too
    length = np.sqrt((rest**2).sum(axis=0)) * np.sqrt((own**2).sum())
    cosine = np.abs(own @ rest) / np.maximum(length, np.finfo(np.float64).tiny)
    places: list[int] = np.flatnonzero(cosine > 1 - CLOSE).tolist()
    return places

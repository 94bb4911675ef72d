"""What a site's rules look at in each column by itself: in one pass over the table, however many rows it has."""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.messages.base import View
from fedsieve.privacy.views import Groups
from fedsieve.sparse_rows import SparseColumns
from fedsieve.tables import Table
from fedsieve.value_counts import Others, Parts
from fedsieve.values import dense, present_values


class ColumnLook:
    """One column, of which rows are added: gaps, ends, rows that differ from the usual value, codes, groups by views.

    Values are clipped to `ends` first, but not for the views, which say themselves what they make of a value. A
    streamed table has groups of the rows that are compared besides.
    """

    def __init__(
        self,
        min_cell: int,
        ends: tuple[float, float] | None = None,
        views: Sequence[View] = (),
        *,
        coded: bool = False,
    ) -> None:
        self.n_present, self.n_missing = 0, 0
        self.low, self.high = np.inf, -np.inf
        self.others = Others(min_cell)
        self.codes: dict[float, int] = {}  # of a column of codes, how many rows have each
        self.groups = Groups(views, min_cell) if views else None
        self.some_groups = Groups(views, min_cell) if views else None
        self._ends, self._coded = ends, coded

    def add(self, rows: Float, compared: Float | None = None) -> None:
        """Some more rows, and those of them that are compared."""
        present = present_values(self.clipped(rows))
        self.n_present += len(present)
        self.n_missing += len(rows) - len(present)
        if len(present):
            self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))
        self.others.add(present)
        if self._coded:
            for code, count in zip(*np.unique(present + 0.0, return_counts=True), strict=True):  # -0.0 is 0.0
                self.codes[float(code)] = self.codes.get(float(code), 0) + int(count)
        if self.groups is not None and self.some_groups is not None:
            self.groups.add(rows)
            self.some_groups.add(np.zeros(0) if compared is None else compared)

    def rare_codes(self, least: int) -> list[str]:
        """Codes that fewer rows have, as text."""
        return [repr(code) for code, n_rows in sorted(self.codes.items()) if n_rows < least]

    def clipped(self, rows: Float) -> Float:
        """Values as they are looked at."""
        return rows if self._ends is None else np.clip(rows, *self._ends)


def look_at(
    table: Table, looks: Sequence[ColumnLook], compared: Int | None = None, stored: SparseColumns | None = None
) -> None:
    """Add all rows of a table to the looks at its columns: a streamed one by batches, another column by column.

    `stored` are the columns of a sparse table, if it is one.
    """
    if not table.streamed:
        for place, (name, look) in enumerate(zip(table.names, looks, strict=True)):
            look.add(stored.column(place) if stored is not None else column_of(table, name))
        return
    start = 0
    for batch in table.batches(table.names):
        rows = dense(batch)
        chosen = None
        if compared is not None:
            first, last = np.searchsorted(compared, [start, start + len(rows)])
            chosen = compared[first:last] - start
        for look, values in zip(looks, rows.T, strict=True):
            look.add(values, None if chosen is None else values[chosen])
        start += len(rows)


def column_of(table: Table, name: str) -> Float:
    """A whole column."""
    column: Float = dense(table.whole((name,)))[:, 0]
    return column


def parts_of(table: Table, name: str) -> Parts:
    """A column some rows at a time."""
    return lambda: (dense(batch)[:, 0] for batch in table.batches((name,)))

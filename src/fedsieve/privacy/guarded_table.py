"""A table as others are shown it: without what is held back."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fedsieve.arrays import Float, Int, Rows
from fedsieve.privacy.held_back import HeldBack, with_codes_replaced
from fedsieve.sparse_rows import SparseColumns
from fedsieve.tables import Sum, Table
from fedsieve.values import is_sparse


class GuardedTable(Table):
    """A table whose risky columns cannot be told from constant ones; every message is computed from it."""

    def __init__(self, table: Table, held: HeldBack) -> None:
        self.names, self.n_rows, self.streamed = table.names, table.n_rows, table.streamed
        self.batch_rows, self.sparse, self.seed = table.batch_rows, table.sparse, table.seed
        self.held, self.rows = held, table

    def read(self, columns: Sequence[str], start: int, stop: int) -> Rows:
        """Rows with the values replaced; sparse rows stay sparse where nothing is."""
        return self._seen(columns, self.rows.read(columns, start, stop))

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Rows]:
        """Those of the table, with the values replaced."""
        return (self._seen(columns, batch) for batch in self.rows.batches(columns, size))

    def rows_at(self, chosen: Int, columns: Sequence[str]) -> Rows:
        """Those of the table, which may know a shorter way to them."""
        return self._seen(columns, self.rows.rows_at(chosen, columns))

    def in_parts(self, answer: Callable[[Table], Sum]) -> Sum | None:
        """Each part is guarded where it lies."""
        held = self.held
        return self.rows.in_parts(lambda part: answer(GuardedTable(part, held)))

    def _seen(self, columns: Sequence[str], rows: Rows) -> Rows:
        changed = {*self.held.constant, *self.held.replaced, *self.held.filled}
        touched = [place for place, name in enumerate(columns) if name in changed]
        if not touched:
            return rows
        if is_sparse(rows):
            return self._seen_of_sparse(columns, touched, rows)
        rows = rows.copy()
        for place in touched:
            rows[:, place] = self._shown(columns[place], rows[:, place])
        return rows

    def _seen_of_sparse(self, columns: Sequence[str], touched: Sequence[int], rows: Rows) -> Rows:
        """The same, sparse; only where 0 is shown as another value, all rows of a column are stored."""
        from scipy import sparse

        by_column, full = SparseColumns.of_batches([rows]), {}
        entries = by_column.entries
        for place in touched:
            name, here = columns[place], by_column.within(place)
            if self._shown(name, np.zeros(1))[0] == 0:
                entries.data[here] = self._shown(name, entries.data[here])
            else:
                full[place] = self._shown(name, by_column.column(place))
                entries.data[here] = 0.0
        entries.eliminate_zeros()
        if full:
            at = np.tile(np.arange(rows.shape[0]), len(full)), np.repeat(list(full), rows.shape[0])
            entries = entries + sparse.csc_array((np.concatenate(list(full.values())), at), shape=rows.shape)
        return entries.tocsr()

    def _shown(self, name: str, values: Float) -> Float:
        if name in self.held.constant:
            values = np.where(np.isnan(values), np.nan, self.held.constant[name])
        values = with_codes_replaced(values, self.held.replaced.get(name, {}))
        return np.where(np.isnan(values), self.held.filled.get(name, np.nan), values)

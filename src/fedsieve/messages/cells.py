"""Cells: how many rows are out of the ordinary in each column, the first sum of a run in which only totals are told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.messages.base import (
    Addend,
    Known,
    Reply,
    Request,
    check_all_columns,
)
from fedsieve.messages.columns import Columns, Scaling, check_labels_present, same_names
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.messages.scaled import ScaledTerms, clipped_ranges
from fedsieve.tables import Table, checked_batches
from fedsieve.text import counted
from fedsieve.value_counts import usual_of
from fedsieve.values import dense


@dataclass(frozen=True, eq=False)
class Cells(Reply):
    """How many rows there are, and for each column and label how many differ from the site's own most frequent value.

    Over all sites that is at most the number of rows that differ from the most frequent value of all. And how many rows
    miss a value, which tells rows apart as well.

    Reveals the number of rows, and how many of them are out of the ordinary in each column.
    """

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    others: Int
    missing: Int

    def __add__(self, other: "Cells") -> "Cells":
        return Cells(
            self.n_rows + other.n_rows,
            same_names(self.features, other.features),
            same_names(self.labels, other.labels),
            self.others + other.others,
            self.missing + other.missing,
        )

    def holds(self, part: "Cells") -> bool:
        """Whether these can be the cells of `part` and of other rows."""
        same = (self.features, self.labels) == (part.features, part.labels)
        counts = ((self.others, part.others), (self.missing, part.missing))
        if not same or self.n_rows < part.n_rows or any(all_.shape != own.shape for all_, own in counts):
            return False
        return all(bool(np.all((all_ >= own) & (all_ <= self.n_rows))) for all_, own in counts)

    def too_few(self, min_cell: int) -> Bool:
        """Of which columns a total would tell of fewer rows."""
        few_missing = (self.missing > 0) & (self.missing < min_cell)
        few_present = self.n_rows - self.missing < min_cell
        few: Bool = (self.others < min_cell) | few_missing | few_present
        return few


@dataclass(frozen=True, eq=False)
class AskCells(Request):
    """Server: how many rows are out of the ordinary in each column. Reveals the columns the server looks at.

    `scaling` are declared ranges, beyond which a value counts as the nearest end.
    """

    reply: ClassVar = Cells
    title: ClassVar = "how many rows are out of the ordinary"
    machinery: ClassVar = True

    columns: Columns
    labels: tuple[str, ...] = ()
    scaling: Scaling | None = None

    def answer(self, table: Table) -> Cells:
        """Column by column."""
        check_labels_present(table, self.labels)
        names, ranges = (*self.columns.features, *self.labels), self.clips()
        others, missing = np.zeros((2, len(names)), dtype=np.int64)
        for place, name in enumerate(names):

            def parts(name: str = name) -> Iterator[Float]:
                batches = checked_batches(table, (name,), self.columns.missing)
                columns = (dense(batch)[:, 0] for batch in batches)
                return (np.clip(values, *ranges[name]) if name in ranges else values for values in columns)

            usual = usual_of(parts, table.n_rows)
            others[place], missing[place] = usual.n_others, table.n_rows - usual.n_present
        return Cells(table.n_rows, self.columns.features, self.labels, others, missing)

    def clips(self) -> Mapping[str, tuple[float, float]]:
        """Declared ranges do."""
        return {} if self.scaling is None else clipped_ranges(self.columns, self.scaling)

    def complaints(self, reply: Cells, known: Known) -> Iterator[str]:
        """Counts of rows."""
        yield from names_rule(reply.features, self.columns.features)
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(reply.n_rows, known)
        shape = (len(reply.features) + len(reply.labels),)
        yield from shape_rule("others", reply.others, shape)
        yield from shape_rule("missing", reply.missing, shape)
        if reply.others.dtype != np.int64 or np.any((reply.others < 0) | (reply.others >= max(reply.n_rows, 1))):
            yield "sent numbers of rows out of the ordinary that are no counts of fewer than all its rows."
        most = reply.n_rows if self.columns.may_miss else 0
        if reply.missing.dtype != np.int64 or np.any(
            (reply.missing < 0) | (reply.missing + reply.others > reply.n_rows)
        ):
            yield "sent numbers of missing values that are no counts of its other rows."
        if np.any(reply.missing > most):
            yield "sent numbers of missing values, of which there are none."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Counts."""
        return (Addend((len(self.columns.features) + len(self.labels),), n_rows, whole=True),) * 2

    def numbers(self, reply: Cells) -> tuple[np.ndarray, ...]:
        """Counts."""
        return reply.others, reply.missing

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> Cells:  # noqa: ARG002
        """Whole numbers are exact."""
        return Cells(n_rows, self.columns.features, self.labels, *numbers)


@dataclass(frozen=True, eq=False)
class CellsTerms(ScaledTerms):
    """All columns and labels, once."""

    request: ClassVar = AskCells

    labels: tuple[str, ...] = ()

    def check(self, request: AskCells) -> None:
        """All agreed columns, clipped to declared ranges only."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        if (request.scaling is None) != (self.declared is None):
            raise ProtocolError("was asked to clip its columns otherwise than agreed.")
        if request.scaling is not None:
            self.check_scaling(request.columns, request.scaling)

    def reveals(self) -> str:
        """Two kinds of counts."""
        n = len(self.columns.features) + len(self.labels)
        return f"the number of rows, and for each of {counted(n, 'column')} how many of them are out of the ordinary"

"""Rows themselves, of the columns that a run selected, some at a time: the one message that is no summary of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError, ProtocolError
from fedsieve.messages.base import Known, Reply, Request, Terms, check_all_columns
from fedsieve.messages.columns import Columns
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.tables import Table
from fedsieve.values import LARGEST, check_values, dense


@dataclass(frozen=True, eq=False)
class RowsChunk(Reply):
    """Some rows of a site: their values in each column, labels last. `n_rows` are all that it has.

    Reveals these rows, as they are.
    """

    why_no_sum: ClassVar[str] = "rows of several sites are kept apart."

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    start: int  # which row of the site is the first
    values: Float  # (n_sent, n_columns)

    @property
    def n_rows_told(self) -> int:
        """Those that are here."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class AskRowsChunk(Request):
    """Server: so many rows from this one on, please. Reveals how far it has come."""

    reply: ClassVar = RowsChunk
    title: ClassVar = "rows of the selected columns"

    columns: Columns
    labels: tuple[str, ...]
    start: int
    n_asked: int

    def answer(self, table: Table) -> RowsChunk:
        """The rows that there are of those."""
        if not 0 <= self.start < table.n_rows:
            raise DataError(f"was asked for rows from number {self.start} on; it has {table.n_rows}.")
        names, stop = self.column_names(), min(self.start + self.n_asked, table.n_rows)
        values = np.ascontiguousarray(dense(table.read(names, self.start, stop)), dtype=np.float64)
        check_values(values, names, self.columns.missing)
        return RowsChunk(table.n_rows, self.columns.features, self.labels, self.start, values)

    def complaints(self, reply: RowsChunk, known: Known) -> Iterator[str]:
        """As many rows as were asked for and are there; numbers that a table of this federation can hold."""
        yield from names_rule(reply.features, self.columns.features)
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(reply.n_rows, known)
        if reply.start != self.start:
            yield f"sent rows from number {reply.start} on; asked for were those from {self.start} on."
        names = self.column_names()
        yield from shape_rule("rows", reply.values, (min(self.n_asked, reply.n_rows - self.start), len(names)))
        gaps = np.isnan(reply.values)
        if np.any(gaps if not self.columns.may_miss else gaps[:, len(self.columns.features) :]):
            yield "sent rows that miss values, which was not agreed on."
        if not np.all(gaps | (np.abs(reply.values) <= LARGEST)):
            yield f"sent values that are no finite numbers within ±{LARGEST:g}."
        codes = reply.values[:, : len(self.columns.features)][:, self.columns.nominal_mask]
        if np.any(codes[~np.isnan(codes)] % 1):
            yield "sent values of nominal columns that are no codes."
        if not np.isin(reply.values[:, len(self.columns.features) :], (0.0, 1.0)).all():
            yield "sent labels that are neither 0 nor 1."


@dataclass(frozen=True, eq=False)
class RowsChunkTerms(Terms):
    """All rows, in chunks of one size, each of them once."""

    request: ClassVar = AskRowsChunk
    sends_rows: ClassVar = True

    labels: tuple[str, ...] = ()
    n_asked: int = 1  # rows of a chunk
    max_rows: int = 1

    @property
    def most(self) -> int:
        """As many as there are chunks."""
        return -(-self.max_rows // self.n_asked)

    def check(self, request: AskRowsChunk) -> None:
        """Exactly the columns that were selected in the run, in chunks of the agreed size."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        if request.n_asked != self.n_asked or request.start % self.n_asked:
            raise ProtocolError(
                f"was asked for {request.n_asked} rows from number {request.start} on; chunks have {self.n_asked} rows."
            )

    def reveals(self) -> str:
        """All of them."""
        labels = f" and {len(self.labels)} labels" if self.labels else ""
        return f"all rows, with their values in {len(self.columns.features)} selected columns{labels}, as they are"

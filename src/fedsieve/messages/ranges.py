"""Ranges: the smallest and the largest value of each column, by which all sites scale alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import (
    Known,
    Reply,
    Request,
    Terms,
)
from fedsieve.messages.columns import Columns, Scaling, same_names
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.tables import Table
from fedsieve.text import counted
from fedsieve.values import LARGEST, check_batches, dense_blocks, row_blocks


@dataclass(frozen=True, eq=False)
class Ranges(Reply):
    """Smallest and largest present value per column, and how many values are missing in all.

    A column without values has low = +inf and high = -inf.

    Reveals two values of each column, those of its extreme rows.
    """

    why_not_masked: ClassVar[str] = (
        "the smallest and the largest value are no sums. Use ranges='robust', or declare ranges."
    )

    n_rows: int
    features: tuple[str, ...]
    low: Float
    high: Float
    n_missing: int = 0

    def __add__(self, other: "Ranges") -> "Ranges":
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        n_rows, n_missing = self.n_rows + other.n_rows, self.n_missing + other.n_missing
        return Ranges(n_rows, same_names(self.features, other.features), low, high, n_missing)

    @property
    def scaling(self) -> Scaling:
        """By which these ranges become [0, 1]."""
        return Scaling(self.low, self.high)


@dataclass(frozen=True, eq=False)
class AskRanges(Request):
    """Server: the smallest and largest value of each column, please. Reveals the columns the server looks at."""

    reply: ClassVar = Ranges
    title: ClassVar = "ranges of the columns"
    remembered: ClassVar = True  # later means and covariances must fit them
    single_columns: ClassVar = True

    columns: Columns

    def answer(self, table: Table) -> Ranges:
        """Batch by batch."""
        return ranges_of(table, self.columns)

    def facts(self, reply: Ranges) -> ColumnFacts:
        """Both ends."""
        empty = reply.low > reply.high
        low, high = (np.where(empty, np.nan, end) for end in (reply.low, reply.high))
        count = np.full(len(empty), float(reply.n_rows) if self.columns.missing == "error" else np.nan)
        return ColumnFacts.of(reply.features, reply.n_rows, count=count, low=low, high=high)

    def complaints(self, reply: Ranges, known: Known) -> Iterator[str]:
        """Finite, in order, and empty only where values may be missing."""
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("low", reply.low, (len(reply.features),))
        yield from shape_rule("high", reply.high, (len(reply.features),))
        empty = (reply.low == np.inf) & (reply.high == -np.inf) & self.columns.may_miss
        broken = ~empty & ~((reply.low >= -LARGEST) & (reply.low <= reply.high) & (reply.high <= LARGEST))
        if broken.any():
            name = reply.features[int(np.argmax(broken))]
            yield f"sent a bad range for {name!r}; it must be finite with low <= high, within ±{LARGEST:g}."
        least, most = reply.n_rows * int(empty.sum()), reply.n_rows * len(empty) * self.columns.may_miss
        if type(reply.n_missing) is not int or not least <= reply.n_missing <= most:
            yield f"misses {str(reply.n_missing)[:20]} values, of at least {least} and at most {most}."


@dataclass(frozen=True, eq=False)
class RangesTerms(Terms):
    """A site names its extremes."""

    request: ClassVar = AskRanges
    permission: ClassVar = "allow_exact_ranges"

    def reveals(self) -> str:
        """Two values of each column."""
        every = counted(len(self.columns.features), "column")
        return f"the smallest and the largest value of {every}, exactly: two values of each, those of extreme rows"


def ranges_of(table: Table, columns: Columns) -> Ranges:
    """The ranges of a table's columns.

    >>> from fedsieve.tables import ArrayTable
    >>> X = np.array([[1.0, np.nan], [3.0, 5.0]])
    >>> ranges_of(ArrayTable(("a", "b"), X), Columns(("a", "b"), (), "unrelated")).high
    array([3., 5.])
    """
    added = table.in_parts(lambda part: ranges_of(part, columns))
    if added is not None:
        return added
    low, high = np.full(len(columns.features), np.inf), np.full(len(columns.features), -np.inf)
    n_missing = 0
    for batch in table.batches(columns.features):
        for first, part in dense_blocks(batch):
            here = slice(first, first + part.shape[1])
            for block in row_blocks(part):
                least, most = block.min(axis=0, initial=np.inf), block.max(axis=0, initial=-np.inf)
                if np.isnan(most).any():
                    n_missing += int(np.isnan(block).sum())
                    least = np.fmin.reduce(block, axis=0, initial=np.inf)
                    most = np.fmax.reduce(block, axis=0, initial=-np.inf)
                low[here], high[here] = np.minimum(low[here], least), np.maximum(high[here], most)
    if np.any((low < -LARGEST) | (high > LARGEST)) or (n_missing and not columns.may_miss):
        check_batches(table.batches(columns.features), columns.features, columns.missing)
    return Ranges(table.n_rows, columns.features, low, high, n_missing)

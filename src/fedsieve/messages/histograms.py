"""Histograms: how many values of each column lie in each of some bins, from which robust ranges follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.binning import MOST_EDGES, are_too_fine, around_codes, edges_between, too_fine
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import (
    Addend,
    Known,
    Reply,
    Request,
    Terms,
)
from fedsieve.messages.binned import counts_of
from fedsieve.messages.columns import Bins, Columns, bin_pins, same_names
from fedsieve.messages.encoding import no_whole_number
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.tables import Table


@dataclass(frozen=True, eq=False)
class Histograms(Reply):
    """How many present values of each column lie in each bin, one column's bins after the other's.

    Reveals how the values of each column are spread over the bins, an outlying value by its bin alone; nothing
    of how columns go together.
    """

    at_worst: ClassVar[str] = "at worst, how many rows have a value that the server guessed"

    n_rows: int
    features: tuple[str, ...]
    counts: Int

    @property
    def n_missing(self) -> int:
        """How many values are in no bin."""
        return self.n_rows * len(self.features) - int(self.counts.sum())

    def __add__(self, other: "Histograms") -> "Histograms":
        features = same_names(self.features, other.features)
        return Histograms(self.n_rows + other.n_rows, features, self.counts + other.counts)


@dataclass(frozen=True, eq=False)
class AskHistograms(Request):
    """Server: how many values lie in each of these bins. Reveals the bins, which are quantiles of the labeled rows."""

    reply: ClassVar = Histograms
    title: ClassVar = "histograms of the columns"
    single_columns: ClassVar = True

    columns: Columns
    bins: Bins

    def answer(self, table: Table) -> Histograms:
        """Batch by batch."""
        self.bins.check(len(self.columns.features))
        counts = counts_of(table, self.columns, self.bins)
        for name in self.between_codes(counts):
            raise no_whole_number(name)
        return Histograms(table.n_rows, self.columns.features, counts)

    def between_codes(self, counts: Int) -> Iterator[str]:
        """The nominal columns that have a value between two codes, though bins tell single codes."""
        nominal = set(self.columns.nominal)
        if not nominal:
            return
        parts = zip(self.columns.features, self.bins.by_column(), self.bins.split(counts), strict=True)
        for name, edges, part in parts:
            if name in nominal and around_codes(edges) and part[2:-1:2].any():
                yield name

    def facts(self, reply: Histograms) -> ColumnFacts:
        """The bins, and how many values are there."""
        bins = list(zip(self.bins.by_column(), self.bins.split(reply.counts), strict=True))
        return ColumnFacts.of(reply.features, reply.n_rows, count=self.bins.totals(reply.counts), bins=bins)

    def complaints(self, reply: Histograms, known: Known) -> Iterator[str]:
        """Counts of all rows, or of fewer where values may be missing."""
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("counts", reply.counts, (len(self.bins.edges) + len(reply.features),))
        if reply.counts.dtype != np.int64 or np.any(reply.counts < 0):
            yield "sent counts that are no whole numbers of at least 0."
        counted = self.bins.totals(reply.counts)
        yield from (str(no_whole_number(name)) for name in self.between_codes(reply.counts))
        least = 0 if self.columns.may_miss else reply.n_rows
        if np.any(counted < least) or np.any(counted > reply.n_rows):
            yield f"sent counts that do not add up to its {reply.n_rows} rows."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Counts."""
        return (Addend((len(self.bins.edges) + len(self.columns.features),), n_rows, whole=True),)

    def numbers(self, reply: Histograms) -> tuple[np.ndarray, ...]:
        """Counts."""
        return (reply.counts,)

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> Histograms:  # noqa: ARG002
        """Whole numbers are exact."""
        return Histograms(n_rows, self.columns.features, *numbers)

    def pins(self) -> dict[str, object]:
        """The bins; ever new ones would find a value step by step."""
        return bin_pins(self.columns, self.bins)


@dataclass(frozen=True, eq=False)
class HistogramsTerms(Terms):
    """All columns at once, in bins no finer than an honest server's, that stay the same under one agreement."""

    request: ClassVar = AskHistograms
    lasting: ClassVar = True

    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # agreed ones, by column

    def check(self, request: AskHistograms) -> None:
        """All agreed columns, in bins that tell no single values."""
        super().check(request)
        if request.columns.features != self.columns.features:
            raise ProtocolError("was asked for other features than agreed, or in another order.")
        request.bins.check(len(request.columns.features))
        coded, bins = set(self.columns.nominal), request.bins
        fine = are_too_fine(bins.edges, bins.n_edges)
        for name, edges, is_fine in zip(self.columns.features, bins.by_column(), fine, strict=True):
            if name in coded and around_codes(edges):
                continue
            if name in self.bounds and name not in coded:
                self._check_between(name, edges)
            elif is_fine:
                raise ProtocolError(
                    f"was sent bins for {name!r} {too_fine(edges)}, which no honest server makes: their counts would "
                    "tell single values. Delete the server's bins of this agreement, if an earlier version made them."
                )

    def _check_between(self, name: str, edges: Float) -> None:
        agreed = edges_between(*self.bounds[name])
        if len(edges) != len(agreed) or not np.allclose(edges, agreed, rtol=1e-12, atol=1e-9 * (agreed[1] - agreed[0])):
            raise ProtocolError(f"was sent other bins for {name!r} than those between its agreed bounds (bounds).")

    def reveals(self) -> str:
        """Counts."""
        codes = ", or one for each code of a nominal one" if self.columns.nominal else ""
        return (
            f"how many values of each of {len(self.columns.features)} columns lie in each of at most {MOST_EDGES + 1} "
            f"bins{codes}: how values are spread; {Histograms.at_worst}; nothing of how columns go together"
        )

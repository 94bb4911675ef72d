"""Information: what each feature tells of each label, and how far apart features are, in bins, within one site."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log2
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import ProtocolError
from fedsieve.measures.entropies import BinCounts, unit_bins
from fedsieve.messages.base import (
    AT_WORST,
    Known,
    Reply,
    View,
    check_all_columns,
)
from fedsieve.messages.columns import Columns, Scaling, check_labels_present, scaled, square
from fedsieve.messages.ranges import AskRanges, Ranges
from fedsieve.messages.reply_rules import SLACK, finite_rule, names_rule, rows_rule, shape_rule, triangle_pivots
from fedsieve.messages.scaled import ScaledRequest, ScaledTerms, check_scaling_at_site, site_ranges
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import Table, checked_batches
from fedsieve.values import dense


@dataclass(frozen=True, eq=False)
class Information(Reply):
    """Mutual information of features and labels, (n_features, n_labels), and the features' distances, in bits.

    A distance is H(f, g) - I(f; g); the strict upper triangle in row-major order.

    Reveals how a site's features and labels are related in bins; with bins of the server's choice, how many values
    lie beyond an edge.
    """

    at_worst: ClassVar[str] = AT_WORST
    why_no_sum: ClassVar[str] = "information does not add up. FMLFS needs each site at the server itself."

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    relevance: Float
    apart: Float


@dataclass(frozen=True, eq=False)
class AskInformation(ScaledRequest):
    """Server: what each feature tells of each label, and how far apart features are, in bins of this scaling.

    Reveals the federation's ranges to every client.
    """

    reply: ClassVar = Information
    title: ClassVar = "information of features and labels"

    columns: Columns
    labels: tuple[str, ...]
    scaling: Scaling
    n_bins: int

    def views(self) -> Mapping[str, View]:
        """In bins: a row that has one to itself is told from all others."""
        if self.scaling.low is None or self.scaling.high is None:
            return {}
        ends = zip(self.columns.features, self.scaling.low, self.scaling.high, strict=True)
        return {name: View(float(low), float(high), self.n_bins) for name, low, high in ends}

    def answer(self, table: Table) -> Information:
        """Counts batch by batch, entropies from all of them."""
        if self.scaling.low is None or self.scaling.high is None:
            raise ProtocolError("was sent no ranges; bins must be the same at all sites.")
        check_labels_present(table, self.labels)
        low, high = site_ranges(table, self.columns, self.scaling)
        d, none = len(low), np.zeros(len(low), dtype=bool)
        counts = BinCounts(d, self.n_bins, len(self.labels))
        for batch in checked_batches(table, (*self.columns.features, *self.labels), self.columns.missing):
            U, _ = scaled(batch[:, :d], low, high, none)
            counts.add(unit_bins(U, self.n_bins), dense(batch[:, d:]).astype(np.int64))
        single, joint, with_labels = counts.entropies()
        apart = 2 * joint - single[:, None] - single
        upper = np.maximum(apart[np.triu_indices(d, 1)], 0.0)
        return Information(table.n_rows, self.columns.features, self.labels, with_labels, upper)

    def complaints(self, reply: Information, known: Known) -> Iterator[str]:
        """Bounds, and the distance as a metric that also bounds how differently two features can inform."""
        n_features, n_rows = len(reply.features), reply.n_rows
        yield from names_rule(reply.features, self.columns.features)
        yield from names_rule(reply.labels, self.labels, "labels")
        yield from rows_rule(n_rows, known)
        yield from shape_rule("relevance", reply.relevance, (n_features, len(reply.labels)))
        yield from shape_rule("apart", reply.apart, (n_features * (n_features - 1) // 2,))
        yield from finite_rule("relevance", reply.relevance)
        yield from finite_rule("apart", reply.apart)
        bits = log2(min(self.n_bins, n_rows))
        most = min(bits, 1.0)
        if np.any(reply.relevance < -SLACK) or np.any(reply.relevance > most + SLACK):
            yield f"sent information outside [0, {most:.3g}] bits, the bounds of {self.n_bins} bins and 0/1 labels."
        if np.any(reply.apart < -SLACK) or np.any(reply.apart > min(2 * bits, log2(n_rows)) + SLACK):
            yield f"sent distances outside the bounds of {self.n_bins} bins and {n_rows} rows."
        distance = square(reply.apart, n_features, 1)
        for via in triangle_pivots(n_features):
            if np.any(distance > distance[:, [via]] + distance[via] + SLACK):
                yield "sent distances that break the triangle inequality."
            # I(f; y) <= I(g; y) + H(f | g), and H(f | g) is at most the distance.
            if np.any(np.abs(reply.relevance - reply.relevance[via]) > distance[:, [via]] + SLACK):
                yield "sent information that differs by more than the features' distance."

    def contradictions(self, reply: Information, known: Known) -> Iterator[str]:
        """Needs the client's `Ranges`: a feature whose range lies in one bin tells nothing, nor is it apart."""
        if AskRanges not in known.earlier:
            return
        ranges: Ranges = known.earlier[AskRanges][1]
        assert self.scaling.low is not None
        assert self.scaling.high is not None
        none = np.zeros(len(ranges.low), dtype=bool)
        ends, _ = scaled(np.vstack([ranges.low, ranges.high]), self.scaling.low, self.scaling.high, none)
        one_bin = np.ptp(unit_bins(ends, self.n_bins), axis=0) == 0
        distance = square(reply.apart, len(none), 1)[np.ix_(one_bin, one_bin)]
        if np.any(reply.relevance[one_bin] > SLACK) or np.any(distance > SLACK):
            yield "sent information that contradicts its ranges: values in one bin tell nothing."


@dataclass(frozen=True, eq=False)
class InformationTerms(ScaledTerms):
    """So many bins, in agreed ranges, of all columns and labels."""

    request: ClassVar = AskInformation

    labels: tuple[str, ...] = ()
    n_bins: int = 0

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """All columns and labels; a code is a bin."""
        return len(self.columns.features) + len(self.labels)

    def check(self, request: AskInformation) -> None:
        """Also the labels, the bins, and whose ranges scale the columns."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        if request.n_bins != self.n_bins:
            raise ProtocolError(f"was asked for {request.n_bins} bins; agreed: {self.n_bins}.")
        self.check_scaling(request.columns, request.scaling)

    def check_site(self, request: AskInformation, site: SiteView) -> None:
        """Also that rows are enough, and that the ranges follow from the total shown."""
        check_scaling_at_site(request.columns, request.scaling, site)
        site.check_enough_rows(self.tells(request, site), "information", "Use fewer features.")

    def tells(self, request: AskInformation, site: SiteView) -> Mapping[str, int]:  # noqa: ARG002
        """Columns in their bins, and labels."""
        columns = (f"{name} in {view.n_bins} bins of {list(view[:2])}" for name, view in request.views().items())
        return dict.fromkeys((*columns, *self.labels), 1)

    def reveals(self) -> str:
        """What is related, and what a dishonest server could count."""
        return (
            f"the number of rows; what each of {len(self.columns.features)} features tells of each of "
            f"{len(self.labels)} labels, and how far any two features are apart, in {self.n_bins} bins whose edges "
            "follow from the federation's ranges: of 0/1 columns and labels how many rows have each two; a server that "
            f"lies about ranges learns how many values lie beyond an edge of its choice; {AT_WORST}"
        )

"""Ranges and moments in one message: what both would tell in two rounds, where ranges are exact.

Moments need ranges, since squares of values as they are could overflow, or vanish. So a site takes its own, which it
tells beside them: whoever knows both moves the moments to the ranges of all sites, and no digits are lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import Known, Reply, Request, Terms
from fedsieve.messages.columns import Columns, Scaling
from fedsieve.messages.moments import Moments, keep_own, moments_within, moved
from fedsieve.messages.ranges import AskRanges, Ranges, ranges_of
from fedsieve.messages.reply_rules import SLACK, finite_rule, most_spread, names_rule, rows_rule, shape_rule
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.tables import Table
from fedsieve.text import counted


@dataclass(frozen=True, eq=False)
class RangesAndMoments(Reply):
    """Smallest and largest present value per column, and the moments of the column in this range, [0, 1] to them.

    A column without values has low = +inf and high = -inf; one without values, or with one value only, has mean = 0 and
    m2 = 0. Codes count as numbers.

    Reveals two values of each column, those of its extreme rows, and a site's averages and spreads; if
    a site has only two rows, both of them, in unknown order.
    """

    why_not_masked: ClassVar[str] = Ranges.why_not_masked

    n_rows: int
    features: tuple[str, ...]
    low: Float
    high: Float
    count: Int
    mean: Float
    m2: Float

    @property
    def ranges(self) -> Ranges:
        """The ranges alone."""
        n_missing = self.n_rows * len(self.count) - int(self.count.sum())
        return Ranges(self.n_rows, self.features, self.low, self.high, n_missing)

    def moments(self, scaling: Scaling, nominal: Bool | bool = False) -> Moments:
        """The moments alone, in ranges that hold these; nominal columns are codes, as they are."""
        assert scaling.low is not None
        assert scaling.high is not None
        ends = np.where(nominal, 0.0, scaling.low), np.where(nominal, 1.0, scaling.high)
        own = Moments(self.n_rows, self.features, self.count, self.mean, self.m2, 0)
        return moved(own, (self.low, self.high), ends)

    def __add__(self, other: "RangesAndMoments") -> "RangesAndMoments":
        """In the ranges of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        both = self.moments(Scaling(low, high)) + other.moments(Scaling(low, high))
        return RangesAndMoments(both.n_rows, both.features, low, high, both.count, both.mean, both.m2)

    def only(self, names: tuple[str, ...]) -> "RangesAndMoments":
        """Those of some columns."""
        place = {name: index for index, name in enumerate(self.features)}
        here = [place[name] for name in names]
        arrays = (self.low[here], self.high[here], self.count[here], self.mean[here], self.m2[here])
        return RangesAndMoments(self.n_rows, names, *arrays)

    @property
    def width(self) -> Float:
        """From one end to the other; 0 where there is no value."""
        return np.where(self.count > 0, self.high, 0.0) - np.where(self.count > 0, self.low, 0.0)

    def deviation_by_column(self) -> Float:
        """The n-1 deviation, in the columns' own units: the ranges of two replies differ."""
        deviation: Float = self.width * np.sqrt(self.m2 / np.maximum(self.count - 1, 1))
        return deviation


@dataclass(frozen=True, eq=False)
class AskRangesAndMoments(Request):
    """Server: both ends, count, mean and spread of each column. Reveals the columns the server looks at."""

    reply: ClassVar = RangesAndMoments
    title: ClassVar = "ranges, means and spreads"
    single_columns: ClassVar = True

    columns: Columns

    def answer(self, table: Table) -> RangesAndMoments:
        """Ranges first, then the moments in them, batch by batch."""
        own = ranges_of(table, self.columns)
        all_numbers = Columns(self.columns.features, (), self.columns.missing)
        found = moments_within(table, all_numbers, own.low, own.high, own)
        return RangesAndMoments(own.n_rows, own.features, own.low, own.high, found.count, found.mean, found.m2)

    def answer_in_run(self, table: Table, memory: Memory) -> RangesAndMoments:
        """The same, kept as moments are."""
        own, nominal = self.answer(table), self.columns.nominal_mask
        keep_own(memory, own.moments(own.ranges.scaling, nominal), own.low, own.high)
        return own

    def facts(self, reply: RangesAndMoments) -> ColumnFacts:
        """Ends, means and deviations, in the columns' own units."""
        count = reply.count.astype(np.float64)
        n, low, high = (np.where(count > 0, known, np.nan) for known in (count, reply.low, reply.high))
        mean, deviation = low + reply.width * reply.mean, reply.width * np.sqrt(reply.m2 / n)
        return ColumnFacts.of(
            reply.features, reply.n_rows, count=count, mean=mean, deviation=deviation, low=low, high=high
        )

    def complaints(self, reply: RangesAndMoments, known: Known) -> Iterator[str]:
        """Ranges as they are by themselves; moments that so many values in them have, both ends among them."""
        n_columns = len(reply.features)
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        for name in ("low", "high", "count", "mean", "m2"):
            yield from shape_rule(name, getattr(reply, name), (n_columns,))
        yield from finite_rule("mean", reply.mean)
        yield from finite_rule("m2", reply.m2)
        least = 0 if self.columns.may_miss else reply.n_rows
        if reply.count.dtype != np.int64 or np.any((reply.count < least) | (reply.count > reply.n_rows)):
            yield f"sent counts outside [{least}, {reply.n_rows}], its number of rows."
        yield from AskRanges(self.columns).complaints(reply.ranges, known)
        if np.any((reply.count == 0) != (reply.low > reply.high)):
            yield "sent counts that contradict its ranges."
        wide = reply.low < reply.high
        if np.any((reply.mean != 0)[~wide] | (reply.m2 != 0)[~wide]):
            yield "sent other moments than 0 for a feature whose range is one point, or that has no values."
        yield from _both_ends_rule(reply.count[wide], reply.mean[wide], reply.m2[wide])


@dataclass(frozen=True, eq=False)
class RangesAndMomentsTerms(Terms):
    """A site names its extremes, with averages and spreads."""

    request: ClassVar = AskRangesAndMoments
    permission: ClassVar = "allow_exact_ranges"

    def check_site(self, request: AskRangesAndMoments, site: SiteView) -> None:  # noqa: ARG002
        """Also that it is about all columns."""
        if request.columns.features != self.columns.features:
            raise ProtocolError("was asked for moments of other columns than all that were agreed on.")

    def reveals(self) -> str:
        """Five numbers per column."""
        every = counted(len(self.columns.features), "column")
        return (
            f"the number of rows and the smallest and the largest value of {every}, exactly: two values of each, those "
            "of extreme rows; count, mean and spread of each; nothing of how columns go together"
        )


def _both_ends_rule(count: Int, mean: Float, m2: Float) -> Iterator[str]:
    """A 0, a 1 and n - 2 other values in [0, 1]: what is left for these is a mean and a spread that they can have."""
    rest = count - 2
    if np.any(rest < 0):
        yield "sent one value in a range of two ends."
        return
    total, room = count * mean - 1, SLACK * count
    if np.any((total < -room) | (total > rest + room)):
        yield "sent moments that contradict its ranges."
    mean_of_rest = np.clip(total / np.maximum(rest, 1), 0.0, 1.0)
    left = m2 - 0.5 - (mean_of_rest - 0.5) ** 2 * 2 * rest / count
    if np.any(left < -room):
        yield "sent moments that contradict its ranges."
    if np.any(left > most_spread(rest, mean_of_rest) + room):
        yield "sent a spread above what its ranges allow."

"""Moments: count, mean and spread of the scaled columns, from which a feature's radius follows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int, Rows
from fedsieve.errors import DataError, ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import Addend, Known, Reply
from fedsieve.messages.columns import Columns, Scaling, check_ranges_hold, same_names, scaled, unit_ranges
from fedsieve.messages.ranges import Ranges
from fedsieve.messages.reply_rules import (
    SLACK,
    finite_rule,
    most_spread,
    names_rule,
    rows_rule,
    shape_rule,
)
from fedsieve.messages.scaled import ScaledRequest, ScaledTerms, check_scaling_at_site, ranges_to_scale_by
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.messages.tall_sums import tall_moments
from fedsieve.tables import Table, checked_batches
from fedsieve.text import counted
from fedsieve.values import LARGEST, dense, row_blocks

OWN = "own moments"  # which a site remembers from one request to the next
LARGEST_CODE = 1000.0  # of a nominal column in a secure sum, which needs a bound
ROUNDING = 16 * np.finfo(np.float64).eps  # of a sum of squares made of mean and spread, and taken apart again


@dataclass(frozen=True, eq=False)
class Moments(Reply):
    """Count, mean and sum of squared deviations of the scaled columns, and how many values a declared range clipped.

    Reveals a site's averages and spreads; if a site has only two rows, both of them, in
    unknown order.
    """

    n_rows: int
    features: tuple[str, ...]
    count: Int
    mean: Float
    m2: Float
    n_clipped: int

    def __add__(self, other: "Moments") -> "Moments":
        """Chan's merge: exact for the pooled rows up to rounding, also with empty columns."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        delta = other.mean - self.mean
        # Where one side is empty its mean is 0 and means nothing.
        mean = np.where(self.count == 0, other.mean, self.mean + np.where(other.count == 0, 0.0, delta * share))
        m2 = self.m2 + other.m2 + np.where(self.count * other.count > 0, delta**2 * self.count * share, 0.0)
        n_rows, n_clipped = self.n_rows + other.n_rows, self.n_clipped + other.n_clipped
        return Moments(n_rows, same_names(self.features, other.features), count, mean, m2, n_clipped)

    def only(self, chosen: Int) -> "Moments":
        """Those of some columns."""
        names = tuple(self.features[place] for place in chosen)
        return Moments(self.n_rows, names, self.count[chosen], self.mean[chosen], self.m2[chosen], self.n_clipped)

    def holds(self, part: "Moments") -> bool:
        """Whether these can be the moments of `part` and of other values."""
        rest = self.count - part.count
        share = np.where(self.count > 0, part.count / np.maximum(self.count, 1), 0.0)
        apart = np.divide(self.mean - part.mean, 1 - share, out=np.zeros(len(rest)), where=rest > 0)  # of the rest
        least = part.m2 + apart**2 * part.count * (1 - share)
        room = 1e-6 * (1 + np.abs(self.m2))
        same = (rest > 0) | (part.count == 0) | (np.abs(self.mean - part.mean) <= 1e-6 * (1 + np.abs(part.mean)))
        return bool(self.n_rows >= part.n_rows and np.all((rest >= 0) & (self.m2 >= least - room) & same))

    def deviation_by_column(self) -> Float:
        """The n-1 deviation."""
        return self.deviation

    @property
    def deviation(self) -> Float:
        """The n-1 deviation of each column; 0 where fewer than two values are present."""
        deviation: Float = np.sqrt(self.m2 / np.maximum(self.count - 1, 1))
        return deviation


@dataclass(frozen=True, eq=False)
class AskMoments(ScaledRequest):
    """Server: count, mean and spread of the scaled columns. Reveals the federation's ranges to every client."""

    reply: ClassVar = Moments
    title: ClassVar = "means and spreads"
    single_columns: ClassVar = True

    columns: Columns
    scaling: Scaling

    def answer(self, table: Table) -> Moments:
        """Batch by batch."""
        (low, high), own = ranges_to_scale_by(table, self.columns, self.scaling)
        return moments_within(table, self.columns, low, high, own)

    def answer_in_run(self, table: Table, memory: Memory) -> Moments:
        """The same, kept: the total is to hold it, whatever a later request sees of the table."""
        (low, high), own = ranges_to_scale_by(table, self.columns, self.scaling)
        found = moments_within(table, self.columns, low, high, own)
        keep_own(memory, found, low, high)
        return found

    def facts(self, reply: Moments) -> ColumnFacts | None:
        """Means and deviations of the values as they were scaled, beyond the ranges' ends of what was clipped there."""
        low, high = self.scaling.low, self.scaling.high
        if low is None or high is None:  # in ranges that only the site knows
            return None
        as_they_are = self.columns.nominal_mask
        start, width = np.where(as_they_are, 0.0, low), np.where(as_they_are, 1.0, np.maximum(high - low, 0.0))
        n = np.where(reply.count > 0, reply.count, np.nan)
        mean, deviation = start + width * reply.mean * (n / n), width * np.sqrt(reply.m2 / n)
        return ColumnFacts.of(
            reply.features, reply.n_rows, count=reply.count.astype(np.float64), mean=mean, deviation=deviation
        )

    def complaints(self, reply: Moments, known: Known) -> Iterator[str]:
        """Counts of rows, and means and spreads that values in [0, 1] can have."""
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        for name, array in (("count", reply.count), ("mean", reply.mean), ("m2", reply.m2)):
            yield from shape_rule(name, array, (len(reply.features),))
            yield from finite_rule(name, array)
        is_scaled = ~self.columns.nominal_mask
        least = 0 if self.columns.may_miss else reply.n_rows
        if np.any((reply.count < least) | (reply.count > reply.n_rows)):
            yield f"sent counts outside [{least}, {reply.n_rows}], its number of rows."
        n_values = int(reply.count[is_scaled].sum())
        if type(reply.n_clipped) is not int or reply.n_clipped < 0 or reply.n_clipped > n_values:
            yield f"clipped {str(reply.n_clipped)[:20]} values of {n_values}."
        if reply.n_clipped and not self.scaling.clips:
            yield f"clipped {reply.n_clipped} values, though the federation's ranges hold all values."
        if np.any((reply.mean < -SLACK) & is_scaled) or np.any((reply.mean > 1 + SLACK) & is_scaled):
            yield "sent a mean outside [0, 1] for a scaled feature."
        if np.any(np.abs(reply.mean) > LARGEST):
            yield f"sent a mean of codes beyond ±{LARGEST:g}."
        if np.any((reply.count == 0) & (reply.mean != 0)):
            yield "sent a mean other than 0 for a feature without values."
        too_wide = reply.m2 > most_spread(reply.count, reply.mean) + SLACK * reply.count
        if np.any(reply.m2 < 0) or np.any(too_wide & is_scaled):
            yield "sent a spread that no values in [0, 1] of this mean have."
        if np.any((reply.m2 > 0) & (reply.count < 2)):
            yield "sent a spread of fewer than two values."
        if self.scaling.low is not None and self.scaling.high is not None:
            point = (self.scaling.low == self.scaling.high) & is_scaled
            if np.any((reply.mean[point] != 0) | (reply.m2[point] != 0)):
                yield "sent other moments than 0 for a feature whose range is one point."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Counts, sums and sums of squares: of values in [0, 1], and of codes up to `LARGEST_CODE`."""
        nominal, shape = self.columns.nominal_mask, (len(self.columns.features),)
        size = np.where(nominal, LARGEST_CODE, 1.0)
        n_clipped = Addend((1,), n_rows * len(nominal), whole=True)
        return (
            Addend(shape, n_rows, whole=True),
            Addend(shape, n_rows * size),
            Addend(shape, n_rows * size**2),
            n_clipped,
        )

    def numbers(self, reply: Moments) -> tuple[np.ndarray, ...]:
        """Means become sums again."""
        sums = reply.count * reply.mean
        if np.any(np.abs(reply.mean) > LARGEST_CODE):
            raise DataError(
                f"has codes above {LARGEST_CODE:.0f} in size; secure sums need smaller ones. "
                "Number the categories 0, 1, 2, ..."
            )
        return reply.count, sums, reply.m2 + sums * reply.mean, np.array([reply.n_clipped])

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: tuple[Float | float, ...]) -> Moments:
        """A column whose spread is rounding is constant."""
        count, sums, squares, n_clipped = numbers
        mean = sums / np.maximum(count, 1)
        m2 = squares - sums * mean
        size = np.where(self.columns.nominal_mask, LARGEST_CODE, 1.0)  # of a mean, by which the sums' error counts
        room = errors[2] + 2 * size * errors[1] + ROUNDING * squares
        m2 = np.where((m2 <= room) | (count < 2), 0.0, m2)
        return Moments(n_rows, self.columns.features, count, mean, m2, int(n_clipped[0]))


@dataclass(frozen=True, eq=False)
class MomentsTerms(ScaledTerms):
    """Averages and spreads, in agreed ranges."""

    request: ClassVar = AskMoments

    def check(self, request: AskMoments) -> None:
        """Also the scaling."""
        super().check(request)
        self.check_scaling(request.columns, request.scaling)

    def check_site(self, request: AskMoments, site: SiteView) -> None:
        """Also that it is about all columns, and that the ranges follow from the total shown."""
        if request.columns.features != self.columns.features:
            raise ProtocolError("was asked for moments of other columns than all that were agreed on.")
        check_scaling_at_site(request.columns, request.scaling, site)

    def reveals(self) -> str:
        """Three numbers per column."""
        n = len(self.columns.features)
        return (
            f"the number of rows, count, mean and spread of {counted(n, 'column')}; nothing of how columns go together"
        )


def keep_own(memory: Memory, own: Moments, low: Float, high: Float) -> None:
    """Remember what a site answered, and the ranges that it is in."""
    memory.keep(OWN, np.array([low, high, own.count, own.mean, own.m2]))


def own_moments(agreed: Columns, asked: Columns, scaling: Scaling, memory: Memory) -> Moments:
    """What a site answered in this run, for some of the agreed columns, in the ranges that it is asked in now."""
    kept = memory.recall(OWN)
    if kept is None:
        raise ProtocolError("was asked about its moments before it told them. Start the run again.")
    place = {name: index for index, name in enumerate(agreed.features)}
    low, high, count, mean, m2 = kept[:, [place[name] for name in asked.features]]
    own = Moments(int(count.max(initial=0)), asked.features, count.astype(np.int64), mean, m2, 0)
    if scaling.low is None or scaling.high is None:
        return own
    numbers = ~asked.nominal_mask & (count > 0)
    check_ranges_hold(scaling.low, scaling.high, low, high, where=numbers)
    unit = np.where(numbers, [low, high, scaling.low, scaling.high], [[0.0], [1.0], [0.0], [1.0]])
    return moved(own, (unit[0], unit[1]), (unit[2], unit[3]))


def moved(own: Moments, old: tuple[Float, Float], new: tuple[Float, Float]) -> Moments:
    """Moments of columns in which old ranges are [0, 1], as if new ones were, which hold the old.

    >>> told = Moments(2, ("a",), np.array([2]), np.array([0.5]), np.array([0.5]), 0)  # of 1 and 3
    >>> found = moved(told, (np.array([1.0]), np.array([3.0])), (np.array([0.0]), np.array([4.0])))
    >>> found.mean, found.m2
    (array([0.5]), array([0.125]))
    """
    some = own.count > 0
    (low, high), (start, end) = (tuple(np.where(some, edge, 0.0) for edge in ends) for ends in (old, new))
    width = np.where(end > start, end - start, 1.0)
    share = (high - low) / width
    mean = np.where(some, (low - start) / width + share * own.mean, own.mean)
    return Moments(own.n_rows, own.features, own.count, mean, share**2 * own.m2, own.n_clipped)


def moments_within(table: Table, columns: Columns, low: Float, high: Float, own: Ranges | None = None) -> Moments:
    """The moments of a table's columns in which these ranges are [0, 1], batch by batch.

    Where they are known to hold all values, since the table's `own` were looked at, tall streams take one blocked pass.
    """
    nominal = columns.nominal_mask

    def moments(part: Table) -> Moments:
        tall = tall_moments(part, columns.features, own) if part.streamed and own is not None else None
        if tall is not None:
            return _scaled_moments(part.n_rows, columns.features, *tall, *unit_ranges(low, high, nominal))
        batches: Iterable[Rows] = checked_batches(part, columns.features, columns.missing)
        if part.streamed:
            batches = (block for batch in batches for block in row_blocks(dense(batch)))
        return reduce(add, (moments_of(*scaled(one, low, high, nominal), columns.features) for one in batches))

    added = table.in_parts(moments)
    return moments(table) if added is None else added


def _scaled_moments(
    n_rows: int, features: tuple[str, ...], mean: Float, m2: Float, low: Float, width: Float
) -> Moments:
    return Moments(n_rows, features, np.full(len(mean), n_rows), (mean - low) / width, m2 / width**2, 0)


def moments_of(X: Float, n_clipped: int, features: tuple[str, ...]) -> Moments:
    """Count, mean and summed squared deviation of each column's present values.

    Deviations are taken from the column's smallest present value, so that a constant column has exactly m2 = 0.

    >>> moments_of(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, np.nan]]), 0, ("a", "b")).m2
    array([0., 2.])
    """
    X = np.ascontiguousarray(X)  # numpy adds columns of the other layout up in another order
    present = ~np.isnan(X)
    count = present.sum(axis=0)
    smallest = np.where(count > 0, np.fmin.reduce(X, axis=0, initial=np.inf), 0.0)
    shifted = np.where(present, X - smallest, 0.0)
    offset = shifted.sum(axis=0) / np.maximum(count, 1)
    m2 = np.where(present, (shifted - offset) ** 2, 0.0).sum(axis=0)
    return Moments(len(X), features, count.astype(np.int64), smallest + offset, m2, n_clipped)

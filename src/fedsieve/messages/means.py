"""Means: how many values of each column are present, and their sums; where others are missing the mean stands in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import Addend, Known, Reply
from fedsieve.messages.columns import Columns, Fill, Scaling, check_ranges_hold, same_names
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.ranges import AskRanges, Ranges, ranges_of
from fedsieve.messages.reply_rules import SLACK, finite_rule, names_rule, rows_rule, shape_rule
from fedsieve.messages.scaled import ScaledRequest, ScaledTerms, check_scaling_at_site
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.tables import Table, checked_batches
from fedsieve.text import counted
from fedsieve.values import dense

FEDERATION, SITES = "federation", "sites"
"""Whose mean columns are compared from: that of all rows, or each site's own."""
OWN_COUNTS, OWN_SUMS = "own counts", "own sums"  # which a site remembers from one request to the next
ROOM = 1e-6  # for sums that were masked, or taken in another order


@dataclass(frozen=True, eq=False)
class Means(Reply):
    """How many values of each column are present, and the sums of its encoded columns over them.

    Sums are from the middle of a range, as in `Covariances`, and of a code the number of rows that have it. They are 0
    where columns are compared within sites, whose own means stand in then.

    Reveals how many values a site misses, and the average of the others.
    """

    n_rows: int
    features: tuple[str, ...]
    present: Int
    sums: Float

    def __add__(self, other: "Means") -> "Means":
        features = same_names(self.features, other.features)
        return Means(self.n_rows + other.n_rows, features, self.present + other.present, self.sums + other.sums)

    @property
    def fill(self) -> Fill:
        """What stands in for missing values."""
        return Fill(self.n_rows, self.present, self.sums)


@dataclass(frozen=True, eq=False)
class AskMeans(ScaledRequest):
    """Server: how many values are present in each column, and their sum. Reveals the federation's ranges."""

    reply: ClassVar = Means
    title: ClassVar = "means of columns that miss values"

    columns: Columns
    scaling: Scaling
    center: str = FEDERATION

    def answer(self, table: Table) -> Means:
        """Batch by batch."""
        encoding = Encoding.of(self.columns, self.scaling)  # of which what is missing adds nothing
        ranges_held(table, self.columns, self.scaling, encoding)
        added = table.in_parts(self.answer)
        if added is not None:
            return added
        present, sums = np.zeros(len(self.columns.features), dtype=np.int64), np.zeros(len(encoding.names))
        for batch in checked_batches(table, self.columns.features, self.columns.missing, len(sums)):
            present += (~np.isnan(dense(batch))).sum(axis=0)
            if self.center == FEDERATION:
                sums += encoding.centered(batch).sums()
        return Means(table.n_rows, self.columns.features, present, sums)

    def answer_in_run(self, table: Table, memory: Memory) -> Means:
        """The same, kept: the total is to hold it, whatever a later request sees of the table."""
        own, owner = self.answer(table), Encoding.of(self.columns, self.scaling).owner
        memory.keep(OWN_COUNTS, np.array([own.n_rows, *own.present], dtype=np.float64))
        memory.keep(OWN_SUMS, np.array([owner, own.sums], dtype=np.float64))
        return own

    def facts(self, reply: Means) -> ColumnFacts:
        """How many values are there, and the means of numbers."""
        encoding = Encoding.of(self.columns, self.scaling)
        count, mean = reply.present.astype(np.float64), np.full(len(reply.features), np.nan)
        if self.center == FEDERATION:
            here = encoding.owner[encoding.numbers]
            mean[here] = encoding.raw(reply.fill.means(encoding.owner))[encoding.numbers]
        return ColumnFacts.of(reply.features, reply.n_rows, count=count, mean=np.where(count > 0, mean, np.nan))

    def complaints(self, reply: Means, known: Known) -> Iterator[str]:
        """Counts of rows, and sums that so many values in their ranges can have."""
        encoding = Encoding.of(self.columns, self.scaling)
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("present", reply.present, encoding.low.shape)
        yield from shape_rule("sums", reply.sums, encoding.owner.shape)
        yield from finite_rule("sums", reply.sums)
        if reply.present.dtype != np.int64 or np.any((reply.present < 0) | (reply.present > reply.n_rows)):
            yield f"sent counts of present values outside [0, {reply.n_rows}], its number of rows."
        if self.center != FEDERATION:
            if np.any(reply.sums != 0):
                yield "sent sums, though its own means stand in for what it misses."
            return
        if not _can_be(reply.present, reply.sums, encoding):
            yield "sent sums that so many values in these ranges do not have."
        coded = ~np.isnan(encoding.code)
        if np.any(np.abs(reply.sums - np.round(reply.sums))[coded] > ROOM):
            yield "sent sums of codes that are no counts of rows."
        per_feature = np.bincount(encoding.owner[coded], weights=reply.sums[coded], minlength=len(reply.present))
        empty = reply.present == 0
        if np.any((np.abs(per_feature - reply.present) > ROOM)[encoding.nominal & ~empty]):
            yield "sent codes that do not add up to its present values."

    def contradictions(self, reply: Means, known: Known) -> Iterator[str]:
        """Needs the client's `Ranges`: a column has a range where it has values."""
        if AskRanges in known.earlier:
            ranges: Ranges = known.earlier[AskRanges][1]
            if np.any((reply.present == 0) != (ranges.low > ranges.high)):
                yield "sent counts that contradict its ranges."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """Counts, and sums of values that are at most 1 in size."""
        n_encoded = len(Encoding.of(self.columns, self.scaling).names)
        return Addend((len(self.columns.features),), n_rows, whole=True), Addend((n_encoded,), n_rows)

    def numbers(self, reply: Means) -> tuple[np.ndarray, ...]:
        """Counts and sums."""
        return reply.present, reply.sums

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> Means:  # noqa: ARG002
        """The same."""
        return Means(n_rows, self.columns.features, *numbers)


@dataclass(frozen=True, eq=False)
class MeansTerms(ScaledTerms):
    """All columns at once, where some of them miss values."""

    request: ClassVar = AskMeans

    center: str = FEDERATION

    @property
    def optional(self) -> bool:
        """Where nothing is missing, nobody asks."""
        return True

    def check(self, request: AskMeans) -> None:
        """Also whose ranges scale the columns, and whose mean they are compared from."""
        super().check(request)
        self.check_scaling(request.columns, request.scaling)
        check_center(request.center, self.center)

    def check_site(self, request: AskMeans, site: SiteView) -> None:
        """Also that it is about all columns, and that the ranges follow from the total shown."""
        if request.columns.features != self.columns.features:
            raise ProtocolError("was asked for means of other columns than all that were agreed on.")
        check_scaling_at_site(request.columns, request.scaling, site)

    def reveals(self) -> str:
        """Two numbers per column."""
        each, means = counted(len(self.columns.features), "column"), ", and their mean" * (self.center == FEDERATION)
        return f"if values are missing: how many values each of {each} has{means}; nothing of how columns go together"


def ranges_held(table: Table, columns: Columns, scaling: Scaling, encoding: Encoding) -> Ranges:
    """A site's own ranges; exact ranges and ranges of codes must hold all its values."""
    own = ranges_of(table, columns)
    check_ranges_hold(encoding.low, encoding.high, own.low, own.high, columns.nominal_mask | (not scaling.clips))
    return own


def check_center(asked: str, agreed: str) -> None:
    """Raise `ProtocolError` where columns would be compared from another mean than agreed."""
    if asked != agreed:
        raise ProtocolError(f"was asked to compare from the mean of {str(asked)[:20]!r}; agreed: {agreed!r} (center).")


def holds(total: Fill, columns: Columns, scaling: Scaling, agreed: Columns, memory: Memory) -> bool:
    """Whether totals for some columns can be those of what a site answered in this run, and of other rows."""
    counts, sums = memory.recall(OWN_COUNTS), memory.recall(OWN_SUMS)
    if counts is None or sums is None:
        raise ProtocolError("was sent means before it told its own. Start the run again.")
    place = {name: index for index, name in enumerate(agreed.features)}
    here = [place[name] for name in columns.features]
    n_others, others = total.n_rows - counts[0], total.present - counts[1:][here]
    if np.any((others < 0) | (others > n_others)):
        return False
    own = np.concatenate([np.zeros(0), *(sums[1, sums[0] == feature] for feature in here)])
    return own.shape == total.sums.shape and _can_be(others, total.sums - own, Encoding.of(columns, scaling))


def _can_be(present: Int | Float, sums: Float, encoding: Encoding) -> bool:
    """Whether so many values in their ranges can have these sums."""
    count, room = present[encoding.owner], ROOM + SLACK * present[encoding.owner]
    point = (encoding.low == encoding.high)[encoding.owner] & encoding.numbers
    low, high = -count * encoding.midpoint, count * np.where(point, 0.0, 1 - encoding.midpoint)
    return bool(np.all((sums >= low - room) & (sums <= high + room)))

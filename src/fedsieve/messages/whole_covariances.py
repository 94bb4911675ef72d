"""Whole covariances: those of a site that misses no value; of another, only how many it misses.

In declared ranges nobody knows beforehand whether values are missing. Where none are, this is the only round; else the
means that stand in for them are asked for next, and the covariances after them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.measures.column_facts import ColumnFacts
from fedsieve.messages.base import AT_WORST, Known, Reply
from fedsieve.messages.columns import Columns, Scaling, same_names
from fedsieve.messages.covariances import AskCovariances, Covariances, CovariancesTerms
from fedsieve.messages.filled import FilledRequest
from fedsieve.messages.means import FEDERATION
from fedsieve.messages.ranges import ranges_of
from fedsieve.messages.reply_rules import names_rule, rows_rule, shape_rule
from fedsieve.tables import Table


@dataclass(frozen=True, eq=False)
class WholeCovariances(Reply):
    """`Covariances` without labels; or how many values are missing in all, and then no sums.

    Reveals averages, spreads and correlations of a site that misses no value, of two rows both up to their order; of
    another site, how many values it misses.
    """

    at_worst: ClassVar[str] = AT_WORST
    why_not_masked: ClassVar[str] = (
        "where some sites miss values the total would be of the others alone. Ask for means first."
    )

    n_rows: int
    features: tuple[str, ...]
    n_missing: int
    sums: Float
    upper: Float

    @classmethod
    def of(cls, told: Covariances) -> "WholeCovariances":
        """Of rows that miss no value."""
        return cls(told.n_rows, told.features, 0, told.sums, told.upper)

    @classmethod
    def without(cls, n_rows: int, features: tuple[str, ...], n_missing: int) -> "WholeCovariances":
        """Of rows that miss so many."""
        return cls(n_rows, features, n_missing, np.zeros(0), np.zeros(0))

    def __add__(self, other: "WholeCovariances") -> "WholeCovariances":
        """Sums of all rows, or none: those of some sites alone would tell of them."""
        n_rows, n_missing = self.n_rows + other.n_rows, self.n_missing + other.n_missing
        features = same_names(self.features, other.features)
        if n_missing:
            return WholeCovariances.without(n_rows, features, n_missing)
        return WholeCovariances.of(self.covariances + other.covariances)

    @property
    def covariances(self) -> Covariances:
        """The sums, of rows that miss no value."""
        if self.n_missing:
            raise DataError(f"{self.n_missing} values are missing; there are no sums.")
        return Covariances(self.n_rows, self.features, (), self.sums, self.upper)

    def deviation_by_column(self) -> Float | None:
        """Where there are sums."""
        return None if self.n_missing else self.covariances.deviation_by_column()


@dataclass(frozen=True, eq=False)
class AskWholeCovariances(FilledRequest):
    """Server: sums and sums of products of encoded columns, unless values are missing. Reveals the declared ranges."""

    reply: ClassVar = WholeCovariances
    tells_of: ClassVar = "second moments"
    title: ClassVar = "covariances of the columns, unless values are missing"
    fill: ClassVar = None  # type: ignore[misc] # nothing need stand in
    labels: ClassVar[tuple[str, ...]] = ()

    columns: Columns
    scaling: Scaling
    center: str = FEDERATION

    @property
    def of_all(self) -> AskCovariances:
        """The request for the sums alone."""
        return AskCovariances(self.columns, self.scaling, center=self.center)

    def answer(self, table: Table) -> WholeCovariances:
        """A look at what is missing, then the sums."""
        n_missing = ranges_of(table, self.columns).n_missing
        if n_missing:
            return WholeCovariances.without(table.n_rows, self.encoding().names, n_missing)
        return WholeCovariances.of(self.of_all.answer(table))

    def facts(self, reply: WholeCovariances) -> ColumnFacts | None:
        """Those of the sums."""
        return None if reply.n_missing else self.of_all.facts(reply.covariances)

    def complaints(self, reply: WholeCovariances, known: Known) -> Iterator[str]:
        """The rules of covariances; or a number of missing values that there can be, and nothing besides."""
        yield from names_rule(reply.features, self.encoding().names, "columns")
        yield from rows_rule(reply.n_rows, known)
        most = reply.n_rows * len(self.columns.features) * self.columns.may_miss
        if type(reply.n_missing) is not int or not 0 <= reply.n_missing <= most:
            yield f"misses {str(reply.n_missing)[:20]} values, of at most {most}."
        if reply.n_missing:
            yield from shape_rule("sums", reply.sums, (0,))
            yield from shape_rule("upper", reply.upper, (0,))
        else:
            yield from self.of_all.complaints(reply.covariances, known)


@dataclass(frozen=True, eq=False)
class WholeCovariancesTerms(CovariancesTerms):
    """As covariances are agreed on, and before them."""

    request: ClassVar = AskWholeCovariances

    @property
    def optional(self) -> bool:
        """A server that misses values itself asks for means at once."""
        return True

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """The columns of the covariances, which count them."""
        return 0

    def reveals(self) -> str:
        """What covariances do, or one number."""
        return f"if no value is missing: {super().reveals()}; else how many are, and nothing besides"

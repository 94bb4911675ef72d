"""Deviations: how far the values of each column deviate from their mean, and nothing else, as Algorithm 1 sends it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.base import Known, Reply
from fedsieve.messages.columns import Columns, Scaling
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.reply_rules import SLACK, finite_rule, names_rule, rows_rule, shape_rule
from fedsieve.messages.scaled import ScaledRequest, ScaledTerms
from fedsieve.tables import Table
from fedsieve.text import counted


@dataclass(frozen=True, eq=False)
class Deviations(Reply):
    """The n-1 deviation of each scaled column.

    Reveals a site's spreads; of two rows, how far apart they are in each column.
    """

    why_no_sum: ClassVar[str] = "deviations do not add up. Use spread='pooled'."

    n_rows: int
    features: tuple[str, ...]
    values: Float


@dataclass(frozen=True, eq=False)
class AskDeviations(ScaledRequest):
    """Server: the deviation of each scaled column. Reveals nothing to a client, which scales by its own ranges."""

    reply: ClassVar = Deviations
    title: ClassVar = "deviations"
    single_columns: ClassVar = True

    columns: Columns
    scaling: Scaling

    def answer(self, table: Table) -> Deviations:
        """Those of the moments."""
        moments = AskMoments(self.columns, self.scaling).answer(table)
        return Deviations(moments.n_rows, moments.features, moments.deviation)

    def complaints(self, reply: Deviations, known: Known) -> Iterator[str]:
        """At most that of values of which half are 0 and half are 1."""
        yield from names_rule(reply.features, self.columns.features)
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("values", reply.values, (len(reply.features),))
        yield from finite_rule("values", reply.values)
        n = reply.n_rows
        most = np.sqrt((n // 2) * (n - n // 2) / n / (n - 1))
        if np.any((reply.values < 0) | (reply.values > most * (1 + SLACK))):
            yield "sent a deviation that no values in [0, 1] have."


@dataclass(frozen=True, eq=False)
class DeviationsTerms(ScaledTerms):
    """Spreads of all columns."""

    request: ClassVar = AskDeviations

    def check(self, request: AskDeviations) -> None:
        """Also the scaling."""
        super().check(request)
        self.check_scaling(request.columns, request.scaling)

    @property
    def why_unchecked(self) -> str:
        """A mean over single sites' deviations shows in no total."""
        return "spread='mean' gives a radius that no site can check. Agree on spread='pooled'."

    def reveals(self) -> str:
        """One number per column."""
        n = len(self.columns.features)
        return f"the number of rows and the spread of {counted(n, 'column')}; nothing of how columns go together"

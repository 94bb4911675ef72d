"""Partial correlations: how columns and labels are related, given others, within one site."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import ProtocolError
from fedsieve.measures.correlation import correlations, partial_correlations
from fedsieve.messages.base import (
    AT_WORST,
    Known,
    Reply,
    Request,
    Terms,
    check_all_columns,
)
from fedsieve.messages.columns import LOCAL, Columns, Scaling, check_labels_present
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.reply_rules import rows_rule, shape_rule
from fedsieve.messages.site_view import SiteView
from fedsieve.tables import Table

MAX_ROUNDS = 1000  # of tests in one run


@dataclass(frozen=True, eq=False)
class PartialCorrelations(Reply):
    """One partial correlation per pair that was asked about; NaN where one of the pair is constant here.

    0 where the given variables determine one of the pair.

    Reveals how each of these pairs is related in a site once the given variables are accounted for.
    """

    at_worst: ClassVar[str] = AT_WORST
    why_no_sum: ClassVar[str] = "correlations of single sites do not add up. Use combine='pooled'."

    n_rows: int
    values: Float


@dataclass(frozen=True, eq=False)
class AskPartialCorrelations(Request):
    """Server: the partial correlation of these pairs of variables given those others. Reveals what it considers.

    Variables are numbered: features first, then labels. `given` has one row per pair, (n_pairs, n_given).
    """

    reply: ClassVar = PartialCorrelations
    title: ClassVar = "tests of conditional independence"

    columns: Columns
    labels: tuple[str, ...]
    first: Int
    second: Int
    given: Int

    def answer(self, table: Table) -> PartialCorrelations:
        """From the site's own covariances, scaled by its own ranges."""
        check_labels_present(table, self.labels)
        n_variables = len(self.columns.features) + len(self.labels)
        first, second, given = self.first, self.second, self.given
        if first.ndim != 1 or second.shape != first.shape or given.ndim != 2 or len(given) != len(first):
            raise ProtocolError("was asked about pairs that do not fit each other.")
        asked = np.concatenate([first, second, given.ravel()])
        if asked.size and not 0 <= asked.min() <= asked.max() < n_variables:
            raise ProtocolError(f"was asked about variables beyond its {n_variables}.")
        own = AskCovariances(self.columns, Scaling(None, None, LOCAL), self.labels).answer(table)
        return PartialCorrelations(table.n_rows, site_correlations(own.deviations(), first, second, given))

    def complaints(self, reply: PartialCorrelations, known: Known) -> Iterator[str]:
        """Numbers in [-1, 1], or NaN."""
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("values", reply.values, self.first.shape)
        if np.any(np.abs(reply.values) > 1):
            yield "sent correlations outside [-1, 1]."


@dataclass(frozen=True, eq=False)
class PartialCorrelationsTerms(Terms):
    """Tests of all columns and labels, given so many others at most."""

    request: ClassVar = AskPartialCorrelations
    permission: ClassVar = "allow_tests"

    labels: tuple[str, ...]
    max_given: int

    @property
    def most(self) -> int:
        """A level of the search is a round or several; the server decides what it tests."""
        return MAX_ROUNDS

    def check_site(self, request: AskPartialCorrelations, site: SiteView) -> None:
        """Also that rows are enough: in the end all correlations could be asked for."""
        site.check_enough_rows(self.tells(request, site), "correlations", "Use fewer features.")

    def tells(self, request: AskPartialCorrelations, site: SiteView) -> Mapping[str, int]:  # noqa: ARG002
        """All columns and labels."""
        return dict.fromkeys((*self.columns.features, *self.labels), 1)

    def check(self, request: AskPartialCorrelations) -> None:
        """Also the labels, and how many variables are given."""
        super().check(request)
        check_all_columns(self.columns, self.labels, request)
        if request.given.ndim == 2 and request.given.shape[1] > self.max_given:
            n_given = request.given.shape[1]
            raise ProtocolError(f"was asked for tests given {n_given} variables; agreed: {self.max_given}.")

    def reveals(self) -> str:
        """In the end, all correlations."""
        return (
            "the number of rows, and one number for each test the server asks for, in several rounds: how two columns "
            "are related given others; in the end up to all correlations of all columns, but no averages or spreads; "
            f"{AT_WORST}"
        )


def site_correlations(deviations: Float, first: Int, second: Int, given: Int) -> Float:
    """Partial correlations within one site; NaN where one of the pair is constant there, so that it cannot tell."""
    constant = np.diagonal(deviations) <= 0
    values = partial_correlations(correlations(deviations), first, second, given)
    return np.where(constant[first] | constant[second], np.nan, values)

"""Sieve's run by exact sums: ranges, then covariances added up over all rows; of wide tables, projections before.

Where values are missing, the means that stand in for them come first.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.messages import Request, Scaling
from fedsieve.messages.covariances import AskCovariances, Covariances
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.means import SITES
from fedsieve.messages.projections import AskProjections, Projections, coarse_weights
from fedsieve.messages.ranges import AskRanges
from fedsieve.messages.whole_covariances import AskWholeCovariances, WholeCovariances
from fedsieve.methods.compared_columns import check_compared
from fedsieve.methods.missing import NOTHING, Missing, agreed_fill
from fedsieve.methods.ranges import scaling_and_missing
from fedsieve.methods.sieve_fdr import FdrFindings, fdr_findings
from fedsieve.methods.weighted_rows import counted_rows, own_covariances, own_projections
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled
from fedsieve.sieve import Contest, contest

if TYPE_CHECKING:
    from fedsieve.methods.sieve import SieveMethod
    from fedsieve.methods.sieve_selection import SieveSelection


def exact_run(method: "SieveMethod", labeled: Labeled, cohort: Cohort) -> "Steps[SieveSelection]":
    """Ask for what is needed and rank from the totals."""
    own, weights = method.server_table(labeled), labeled.weights
    cohort.observe(_why_no_codes)
    scaling, n_missing = yield from scaling_and_missing(method, labeled, cohort)
    clipped = scaling.n_beyond  # before the counts that tell it are left out
    total: Covariances | None = None
    if method.asks_at_once:
        n_missing, total = yield from _at_once(method, scaling, labeled, cohort)
    fill, missing = None, NOTHING
    if method.columns.fills and n_missing != 0:
        fill, missing = yield from agreed_fill(method, scaling, method.center, counted_rows(own, weights), cohort)
        scaling = scaling.told()
    encoding, table = method.encoded(scaling, labeled, fill)
    check_compared(method, len(encoding.names))
    unit = method.unit_of[encoding.owner]

    screening, kept, any_varies = None, np.arange(len(method.features)), False
    if len(encoding.names) > method.n_compared:
        method.check_not_screened(len(encoding.names))
        tuning, model = method.label_weights(table, labeled.Y, weights)
        model = coarse_weights(model)
        ask_projections = AskProjections(method.columns, scaling, model, fill, method.center)
        mine = own_projections(ask_projections, own, weights)
        pooled: Projections = yield from cohort.total(ask_projections, mine)
        variance, products = pooled.spreads() / pooled.n_rows, pooled.deviations() / pooled.n_rows
        any_varies = bool(variance.any())
        screening = method.screened(tuning, table, labeled.Y, unit, variance, products, weights)
        kept, scaling = np.flatnonzero(screening.kept[method.unit_of]), scaling.told()
        fill = None if fill is None else fill.only(kept, encoding.owner[~encoding.tells])

    if total is None:
        some = method.columns.only(method.features[feature] for feature in kept)
        ask = AskCovariances(some, scaling.only(kept), fill=fill, center=method.center)
        total = yield from cohort.total(ask, own_covariances(ask, own, weights))
    here = np.isin(encoding.owner, kept)
    compared, unit_here = np.unique(unit[here], return_inverse=True)
    covariance = total.deviations() / total.n_rows
    error_rate = None
    if method.fdr is not None:
        mean = None if method.center == SITES else total.sums / total.n_rows + encoding.midpoint
        clipped = _n_clipped(labeled.X, encoding) if clipped is None else clipped
        against = contest(table, labeled.Y, mean, covariance, unit, total.n_rows, method.seed)
        error_rate = _with_error_rate(method, against, encoding, _gaps(labeled, missing), clipped)
    first = None if error_rate is None else error_rate.selected[np.unique(method.unit_of, return_index=True)[1]]
    ranking = method.ranked(
        covariance, unit_here, table[:, here], labeled.Y, weights=weights, first=first, screening=screening
    )
    found = method.selection(ranking, compared, screening, cohort.unseen)
    any_varies |= bool(np.diagonal(covariance).any())
    return replace(found, missing=missing, error_rate=error_rate, nothing_varies=not any_varies)


def _at_once(
    method: "SieveMethod", scaling: Scaling, labeled: Labeled, cohort: Cohort
) -> Steps[tuple[int | None, Covariances | None]]:
    """How many values are missing, and the covariances where none are; `None` where nobody was asked."""
    encoding, _ = method.encoded(scaling, labeled)
    if np.isnan(labeled.X).any() or len(encoding.names) > method.n_compared:
        return None, None
    check_compared(method, len(encoding.names))
    ask = AskWholeCovariances(method.columns, scaling, method.center)
    own = own_covariances(ask.of_all, method.server_table(labeled), labeled.weights)
    told: WholeCovariances = yield from cohort.total(ask, WholeCovariances.of(own))
    return told.n_missing, None if told.n_missing else told.covariances


def _with_error_rate(
    method: "SieveMethod", against: Contest, encoding: Encoding, gaps: Float, n_clipped: int
) -> FdrFindings:
    """What beats its knockoff, at the agreed rate."""
    assert method.fdr is not None
    names, missing = [method.features[owner] for owner in encoding.owner], gaps[encoding.owner]
    return fdr_findings(against.at(method.fdr), against, method.unit_of, names, missing, n_clipped)


def _gaps(labeled: Labeled, missing: Missing) -> Float:
    """Per feature the share of values that are missing, of all rows or of the labeled ones, whichever is larger."""
    of_labeled: Float = np.isnan(labeled.X).mean(axis=0)
    return of_labeled if missing.share is None else np.maximum(missing.share, of_labeled)


def _n_clipped(X: Float, encoding: Encoding) -> int:
    """Values of the labeled rows that declared ranges clip; of those at sites nobody tells."""
    beyond = ((encoding.low > X) | (encoding.high < X)) & ~encoding.nominal
    return int(beyond.sum())


def _why_no_codes(_client: str, request: Request, reply: Any) -> str | None:
    """A client whose codes cannot be encoded is the one to be named, or dropped."""
    if isinstance(request, AskRanges) and request.columns.nominal:
        try:
            Encoding.of(request.columns, reply.scaling)
        except DataError as error:
            return str(error)
    if isinstance(request, AskHistograms):
        parts = request.bins.split(reply.counts)
        for place in np.flatnonzero(request.columns.nominal_mask):
            if parts[place][0] or parts[place][-1]:
                name = request.columns.features[place]
                return (
                    f"has codes in {name!r} beyond those of the labeled rows. Declare the range of its codes: "
                    "bounds of the method, 'federation init --bounds FILE' of an agreement."
                )
    return None

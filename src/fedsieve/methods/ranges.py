"""The first step of every method that scales columns: the run's ranges, exact, robust, declared, or each site's own."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.measures.binning import edges_between, edges_of_codes, edges_of_values
from fedsieve.messages import Scaling, Terms
from fedsieve.messages.cells import CellsTerms
from fedsieve.messages.columns import DECLARED, FEDERATED, LOCAL, ROBUST, Bins
from fedsieve.messages.encoding import codes_between
from fedsieve.messages.histograms import AskHistograms, Histograms, HistogramsTerms
from fedsieve.messages.ranges import AskRanges, Ranges, RangesTerms
from fedsieve.methods.weighted_rows import counted_rows
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled, Method
from fedsieve.values import dense


def agreed_scaling(method: Method, labeled: Labeled, cohort: Cohort) -> Steps[Scaling]:
    """Whose smallest and largest values become 0 and 1; one round, or none. The server's rows count like a site's."""
    return (yield from scaling_and_missing(method, labeled, cohort))[0]


def scaling_and_missing(method: Method, labeled: Labeled, cohort: Cohort) -> Steps[tuple[Scaling, int | None]]:
    """The same, and how many values are missing in all; `None` where no round tells it."""
    own = counted_rows(method.server_table(labeled), labeled.weights)
    if method.ranges == FEDERATED:
        request = AskRanges(method.columns)
        ranges: Ranges = yield from cohort.total(request, request.answer(own))
        return ranges.scaling, ranges.n_missing
    if method.ranges == ROBUST:
        bins = labeled.bins or bins_of(method, labeled)
        ask = AskHistograms(method.columns, bins)
        total: Histograms = yield from cohort.total(ask, ask.answer(own))
        return Scaling.robust(bins, total.counts), total.n_missing
    return method.declared_scaling or Scaling(None, None, LOCAL), None


def ranges_terms(method: Method) -> tuple[Terms, ...]:
    """What sites agree to for it, and before it in secure sums."""
    labels = method.columns_read[len(method.features) :]
    cells = (CellsTerms(method.columns, *scaling_agreed_on(method), labels=labels),) if method.secure else ()
    if method.ranges == FEDERATED:
        return (*cells, RangesTerms(method.columns))
    return (*cells, HistogramsTerms(method.columns, method.bounds)) if method.ranges == ROBUST else cells


def scaling_agreed_on(method: Method) -> tuple[str, Scaling | None]:
    """The kind of ranges, and the declared ones: what `ScaledTerms` hold a server to."""
    return (method.ranges, None) if isinstance(method.ranges, str) else (DECLARED, method.declared_scaling)


def bins_of(method: Method, labeled: Labeled) -> Bins:
    """Bins for the histograms: between declared bounds, around codes, or at the labeled values' quantiles."""
    nominal = method.nominal_mask & method.encodes_codes
    rows = counted_rows(method.server_table(labeled), labeled.weights)
    columns = zip(method.features, dense(rows.whole(method.features)).T, nominal, strict=True)
    return Bins.of(_edges(method, name, values, coded) for name, values, coded in columns)


def present_range(values: Float) -> tuple[float, float]:
    """The smallest and the largest present value; 0 where there is none.

    >>> present_range(np.array([2.0, np.nan, 1.0])), present_range(np.array([np.nan]))
    ((1.0, 2.0), (0.0, 0.0))
    """
    present = values[~np.isnan(values)]
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)


def _edges(method: Method, name: str, values: Float, coded: bool) -> Float:
    if coded:
        own = present_range(values)
        low, high = method.bounds.get(name) or own
        try:
            codes_between(name, *own)
            codes_between(name, low, high)
        except DataError as error:
            raise DataError(f"{method.name}: {error}") from None
        return edges_of_codes(low, high)
    return edges_between(*method.bounds[name]) if name in method.bounds else edges_of_values(values)

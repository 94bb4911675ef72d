"""What a site computes from its own rows and labels. Arrays and a request in, a message out."""

import numpy as np

from fedsieve.arrays import Float, Int, Rows, dense
from fedsieve.errors import ProtocolError
from fedsieve.measures.correlation import correlations, partial_correlations
from fedsieve.measures.entropies import entropies, joint_entropies, mutual_information, unit_bins
from fedsieve.protocol import messages as m
from fedsieve.protocol.summaries import check_ranges_hold, scaled


def information_of(X: Rows, Y: Float, request: m.AskInformation) -> m.Information:
    """Mutual information and distances in the bins of the request."""
    low, high = request.scaling.low, request.scaling.high
    if low is None or high is None:
        raise ProtocolError("was sent no ranges; bins must be the same at all sites.")
    check_ranges_hold(low, high, X)
    U, _ = scaled(X, low, high, np.zeros(X.shape[1], dtype=bool))
    bins = unit_bins(U, request.n_bins)
    single = entropies(bins)
    apart = 2 * joint_entropies(bins, bins) - single[:, None] - single
    upper = np.maximum(apart[np.triu_indices(len(single), 1)], 0.0)
    return m.Information(
        len(U), request.columns.features, request.labels, mutual_information(bins, Y.astype(np.int64)), upper
    )


def covariances_of(X: Rows, Y: Float, request: m.AskCovariances) -> m.Covariances:
    """Means and sums of products of features and labels."""
    return m.Covariances.of(request.columns.features, request.labels, np.hstack([dense(X), Y]))


def partial_correlations_of(X: Rows, Y: Float, request: m.AskPartialCorrelations) -> m.PartialCorrelations:
    """The correlations that were asked for; NaN where one of the pair is constant here."""
    n_variables = X.shape[1] + Y.shape[1]
    first, second, given = request.first, request.second, request.given
    if first.ndim != 1 or second.shape != first.shape or given.ndim != 2 or len(given) != len(first):
        raise ProtocolError("was asked about pairs that do not fit each other.")
    asked = np.concatenate([first, second, given.ravel()])
    if asked.size and not 0 <= asked.min() <= asked.max() < n_variables:
        raise ProtocolError(f"was asked about variables beyond its {n_variables}.")
    products = m.Covariances.of((), (), np.hstack([dense(X), Y])).products()
    return m.PartialCorrelations(len(Y), correlations_here(products, first, second, given))


def correlations_here(products: Float, first: Int, second: Int, given: Int) -> Float:
    """Partial correlations within one site; NaN where one of the pair is constant there, so that it cannot tell."""
    constant = np.diagonal(products) <= 0
    values = partial_correlations(correlations(products), first, second, given)
    return np.where(constant[first] | constant[second], np.nan, values)

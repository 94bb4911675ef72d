"""What makes information and covariances believable: rules that hold for any rows with 0/1 labels."""

from collections.abc import Iterator
from math import log2

import numpy as np

from fedsieve.measures.correlation import correlations
from fedsieve.measures.entropies import unit_bins
from fedsieve.protocol import messages as m
from fedsieve.protocol.messages.parts import square
from fedsieve.protocol.ssfmlfs.metric import MAX_VIA
from fedsieve.protocol.summaries import scaled

ROOM = 1e-9  # for rounding, in bits
NEGATIVE = 1e-8  # what rounding may make of an eigenvalue 0, per variable


def information_complaints(reply: m.Information, n_bins: int) -> Iterator[str]:
    """Bounds, and the distance as a metric that also bounds how differently two features can inform."""
    bits = log2(min(n_bins, reply.n_rows))
    if np.any(reply.relevance < -ROOM) or np.any(reply.relevance > min(bits, 1.0) + ROOM):
        yield f"sent information outside [0, {min(bits, 1.0):.3g}] bits, the bounds of {n_bins} bins and 0/1 labels."
    if np.any(reply.apart < -ROOM) or np.any(reply.apart > min(2 * bits, log2(reply.n_rows)) + ROOM):
        yield f"sent distances outside the bounds of {n_bins} bins and {reply.n_rows} rows."
    distance = square(reply.apart, len(reply.features), 1)
    for via in range(0, len(distance), -(-len(distance) // MAX_VIA)):
        if np.any(distance > distance[:, [via]] + distance[via] + ROOM):
            yield "sent distances that break the triangle inequality."
        # I(f; y) <= I(g; y) + H(f | g), and H(f | g) is at most the distance.
        if np.any(np.abs(reply.relevance - reply.relevance[via]) > distance[:, [via]] + ROOM):
            yield "sent information that differs by more than the features' distance."


def information_of_ranges(ranges: m.Ranges, request: m.AskInformation, reply: m.Information) -> Iterator[str]:
    """A feature whose own range lies in one bin tells nothing, and is not apart from another such feature."""
    none = np.zeros(len(ranges.low), dtype=bool)
    low, high = request.scaling.low, request.scaling.high
    assert low is not None
    assert high is not None
    ends, _ = scaled(np.vstack([ranges.low, ranges.high]), low, high, none)
    one_bin = np.ptp(unit_bins(ends, request.n_bins), axis=0) == 0
    distance = square(reply.apart, len(none), 1)[np.ix_(one_bin, one_bin)]
    if np.any(reply.relevance[one_bin] > ROOM) or np.any(distance > ROOM):
        yield "sent information that contradicts its ranges: values in one bin tell nothing."


def covariance_complaints(reply: m.Covariances) -> Iterator[str]:
    """0/1 labels have whole sums and a spread that follows from the mean; no combination has a negative spread."""
    products = reply.products()
    spread = np.diagonal(products)
    if np.any(spread < 0):
        yield "sent negative spreads."
    mean, own = (values[len(reply.features) :] for values in (reply.mean, spread))
    sums = reply.n_rows * mean
    if np.any(np.abs(sums - np.round(sums)) > 1e-6) or np.any(mean < -ROOM) or np.any(mean > 1 + ROOM):
        yield "sent means of labels that no 0/1 labels have."
    if np.any(np.abs(own - sums * (1 - mean)) > 1e-6 * reply.n_rows):
        yield "sent spreads of labels that no 0/1 labels of these means have."
    length = np.sqrt(spread)
    if np.any(np.abs(products) > np.outer(length, length) * (1 + ROOM)):
        yield "sent covariances above the product of the deviations."
    try:  # a Cholesky factor exists where no eigenvalue is below -NEGATIVE * n, and is found much faster than those
        np.linalg.cholesky(correlations(products) + NEGATIVE * len(products) * np.eye(len(products)))
    except np.linalg.LinAlgError:
        yield "sent covariances that give a combination of columns a negative spread."

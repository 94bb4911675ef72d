"""What makes covariances and products of encoded columns believable: rules that hold for any rows."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Float
from fedsieve.protocol import messages as m
from fedsieve.protocol.encoding import Encoding
from fedsieve.protocol.moment_rules import moments_of_ranges, most_spread

ROOM = 1e-9  # for rounding, of a mean in [0, 1]


def encoding_of(request: m.AskScaledCovariances | m.AskProjections) -> Encoding:
    """How the request's columns are encoded."""
    return Encoding.of(request.columns, request.scaling)


def encoded_moments(reply: m.Covariances | m.Projections) -> tuple[Float, Float]:
    """Mean and summed squared deviation of each encoded column."""
    return (reply.mean, reply.m2) if isinstance(reply, m.Projections) else (reply.mean, np.diagonal(reply.products()))


def encoded_complaints(encoding: Encoding, n_rows: int, mean: Float, m2: Float) -> Iterator[str]:
    """Numbers lie in [0, 1]; each row has one code, so that codes are counts that add up to all rows."""
    if np.any(mean < -ROOM) or np.any(mean > 1 + ROOM):
        yield "sent a mean outside [0, 1] for a scaled feature."
    if np.any(m2 < 0) or np.any(m2 > most_spread(n_rows, mean) + ROOM * n_rows):
        yield "sent a spread that no values in [0, 1] of this mean have."
    coded = ~np.isnan(encoding.code)
    counts = n_rows * mean[coded]
    if np.any(np.abs(counts - np.round(counts)) > 1e-6):
        yield "sent means of codes that are no counts of rows."
    if np.any(np.abs(m2[coded] - counts * (1 - mean[coded])) > 1e-6 * n_rows):
        yield "sent spreads of codes that no counts of rows have."
    per_feature = np.bincount(encoding.owner[coded], weights=mean[coded], minlength=len(encoding.low))
    if np.any(np.abs(per_feature[encoding.nominal] - 1) > 1e-6):
        yield "sent codes that do not add up to its rows."
    point = (encoding.low == encoding.high)[encoding.owner] & ~coded
    if np.any((mean[point] != 0) | (m2[point] != 0)):
        yield "sent other moments than 0 for a feature whose range is one point."


def projection_complaints(reply: m.Projections, weights: Float) -> Iterator[str]:
    """The weighted sums are sums of the columns: their means follow, and so do their covariances."""
    size = np.abs(weights).sum(axis=0)
    if np.any(np.abs(reply.sum_mean - reply.mean @ weights) > ROOM * np.maximum(size, 1.0)):
        yield "sent means of weighted sums that contradict the means of the columns."
    if np.any(np.abs(reply.products) > reply.n_rows * size):  # before sums of them could overflow
        yield "sent products above those of the deviations."
    of_sums = weights.T @ reply.products
    room = ROOM * reply.n_rows * np.maximum(np.outer(size, size), 1e-300)
    if np.any(np.abs(of_sums - of_sums.T) > room):
        yield "sent products that are not symmetric: no covariance gives them."
    spread = np.diagonal(of_sums)
    if np.any(spread < -np.diagonal(room)):
        yield "sent products that give a weighted sum a negative spread."
    most = np.sqrt(np.outer(reply.m2, np.maximum(spread, 0.0)))
    if np.any(np.abs(reply.products) > most * (1 + 1e-6) + ROOM * reply.n_rows * size):
        yield "sent products above those of the deviations."


def encoded_of_ranges(
    ranges: m.Ranges, request: m.AskScaledCovariances | m.AskProjections, reply: m.Covariances | m.Projections
) -> Iterator[str]:
    """The numbers among the columns must reach both ends of the ranges that the client named, and stay within."""
    encoding = encoding_of(request)
    place = {name: index for index, name in enumerate(ranges.features)}
    names = tuple(name for name, coded in zip(request.columns.features, encoding.nominal, strict=True) if not coded)
    of_code = [place[request.columns.features[feature]] for feature in encoding.owner]
    foreign = (encoding.code < ranges.low[of_code]) | (encoding.code > ranges.high[of_code])  # never of a number (NaN)
    if np.any(encoded_moments(reply)[0][foreign] != 0):
        yield "sent counts of codes that contradict its ranges."
    wanted = [place[name] for name in names]
    own = m.Ranges(ranges.n_rows, names, ranges.low[wanted], ranges.high[wanted])
    mean, m2 = (values[np.isnan(encoding.code)] for values in encoded_moments(reply))
    moments = m.Moments(reply.n_rows, names, np.full(len(names), reply.n_rows), mean, m2, 0)
    scaling = m.Scaling(encoding.low[~encoding.nominal], encoding.high[~encoding.nominal])
    yield from moments_of_ranges(own, scaling, moments, np.ones(len(names), dtype=bool))

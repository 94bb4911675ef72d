"""What makes means and spreads of values in [0, 1] believable, by themselves and beside the ranges named before."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.protocol import messages as m
from fedsieve.protocol.site import LARGEST
from fedsieve.protocol.ssfmlfs.metric import SLACK


def moment_complaints(reply: m.Moments, nominal: tuple[str, ...], may_miss: bool) -> Iterator[str]:
    """Counts, clipped values and means within their bounds."""
    low = 0 if may_miss else reply.n_rows
    if np.any((reply.count < low) | (reply.count > reply.n_rows)):
        yield f"sent counts outside [{low}, {reply.n_rows}], its number of rows."
    scaled = ~np.isin(reply.features, nominal)
    n_values = int(reply.count[scaled].sum())
    if type(reply.n_clipped) is not int or reply.n_clipped < 0 or reply.n_clipped > n_values:
        yield f"clipped {str(reply.n_clipped)[:20]} values of {n_values}."
    if np.any((reply.mean < -SLACK) & scaled) or np.any((reply.mean > 1 + SLACK) & scaled):
        yield "sent a mean outside [0, 1] for a scaled feature."
    if np.any(np.abs(reply.mean) > LARGEST):
        yield f"sent a mean of codes beyond ±{LARGEST:g}."
    if np.any((reply.count == 0) & (reply.mean != 0)):
        yield "sent a mean other than 0 for a feature without values."


def spread_complaints(reply: m.Moments, scaling: m.Scaling, nominal: tuple[str, ...]) -> Iterator[str]:
    """Spreads that values in [0, 1] of these means can have."""
    scaled = ~np.isin(reply.features, nominal)
    too_wide = reply.m2 > most_spread(reply.count, reply.mean) + SLACK * reply.count
    if np.any(reply.m2 < 0) or np.any(too_wide & scaled):
        yield "sent a spread that no values in [0, 1] of this mean have."
    if np.any((reply.m2 > 0) & (reply.count < 2)):
        yield "sent a spread of fewer than two values."
    if scaling.low is not None and scaling.high is not None:
        point = (scaling.low == scaling.high) & scaled
        if np.any((reply.mean[point] != 0) | (reply.m2[point] != 0)):
            yield "sent other moments than 0 for a feature whose range is one point."


def moments_of_ranges(ranges: m.Ranges, scaling: m.Scaling, reply: m.Moments, scaled: Bool) -> Iterator[str]:
    """The values must reach both ends of the range that the client named, and stay within."""
    if reply.n_clipped:
        yield f"clipped {reply.n_clipped} values, though the federation's ranges hold all that it named."
    if np.any((reply.count == 0) != (ranges.low > ranges.high)):
        yield "sent counts that contradict its ranges."
    if scaling.low is None or scaling.high is None:
        return
    wide = scaled & (ranges.low <= ranges.high) & (scaling.low < scaling.high)
    start, width = scaling.low[wide], scaling.high[wide] - scaling.low[wide]
    low, high = (ranges.low[wide] - start) / width, (ranges.high[wide] - start) / width
    count, mean, m2 = reply.count[wide], reply.mean[wide], reply.m2[wide]
    span = high - low
    share = (mean - low) / np.where(span > 0, span, 1.0)
    room = SLACK * count
    if np.any(mean < low - SLACK) or np.any(mean > high + SLACK) or np.any(m2 < span**2 / 2 - room):
        yield "sent moments that contradict its ranges."
    if np.any(m2 > most_spread(count, np.clip(share, 0.0, 1.0)) * span**2 + room):
        yield "sent a spread above what its ranges allow."


def most_spread(count: Float | Int | int, mean: Float) -> Float:
    """For a given sum, values in [0, 1] spread most as ones, zeros and one rest; every lesser spread exists too."""
    total = count * mean
    most: Float = np.floor(total) + (total - np.floor(total)) ** 2 - total * mean
    return most

"""The row by which a table grew between two runs, from the difference of what was told of it before and after."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import gram_of
from fedsieve.audit.attacks.usual_values import usual_row
from fedsieve.audit.sites import Seen, asked_for, first_of
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.moments import AskMoments
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments


def row_by_subtraction(before: Seen, after: Seen, own: Float) -> Float | None:
    """The row, in all columns: from sums exactly, from histograms the server's usual value of the bin; or nothing.

    `own` are the server's rows, labels last where sites hold any.
    """
    if asked_for(before, AskCovariances) and asked_for(after, AskCovariances):
        sums = [gram_of(*first_of(seen, AskCovariances)).products[0, 1:] for seen in (before, after)]
        row: Float = sums[1] - sums[0]
        return _filled(row, own)
    if all(asked_for(seen, AskMoments) or asked_for(seen, AskRangesAndMoments) for seen in (before, after)):
        return _filled(_sums_of_moments(after) - _sums_of_moments(before), own)
    if asked_for(before, AskHistograms) and asked_for(after, AskHistograms):
        return _from_bins(before, after, own)
    return None


def _sums_of_moments(seen: Seen) -> Float:
    together = asked_for(seen, AskRangesAndMoments)
    request, reply = first_of(seen, AskRangesAndMoments if together else AskMoments)
    low, high = (reply.low, reply.high) if together else (request.scaling.low, request.scaling.high)
    sums: Float = (low + reply.mean * (high - low)) * reply.n_rows
    return sums


def _from_bins(before: Seen, after: Seen, own: Float) -> Float | None:
    (asked, old), (_, new) = (first_of(seen, AskHistograms) for seen in (before, after))
    if old.counts.shape != new.counts.shape:
        return None
    usual, row = usual_row(own), usual_row(own)
    parts = zip(asked.bins.by_column(), asked.bins.split(new.counts - old.counts), own.T, strict=False)
    for place, (edges, change, column) in enumerate(parts):
        bin_ = int(np.argmax(change))
        inside = column[np.searchsorted(edges, column, "right") == bin_]
        row[place] = usual_row(inside[:, None])[0] if len(inside) else usual[place]
    return row


def _filled(row: Float, own: Float) -> Float:
    """With the server's usual values in columns of which nothing was told, such as labels."""
    return np.append(row, usual_row(own)[len(row) :])

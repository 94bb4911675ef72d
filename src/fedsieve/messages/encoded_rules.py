"""Rules that moments of encoded columns obey: numbers in their ranges, codes that are counts of rows."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.messages.columns import Columns
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.ranges import Ranges
from fedsieve.messages.reply_rules import SLACK, most_spread, spread_in_range_rule


def encoded_mean_rule(encoding: Encoding, n_rows: int, mean: Float) -> Iterator[str]:
    """Numbers lie in their range; each row has one code, so that codes are counts that add up to all rows."""
    scaled = mean + encoding.midpoint
    if np.any(scaled < -SLACK) or np.any(scaled > 1 + SLACK):
        yield "sent a mean outside [0, 1] for a scaled feature."
    coded = ~np.isnan(encoding.code)
    counts = n_rows * mean[_counts_of_rows(encoding)]
    if np.any(np.abs(counts - np.round(counts)) > 1e-6):
        yield "sent means of codes that are no counts of rows."
    per_feature = np.bincount(encoding.owner[coded], weights=mean[coded], minlength=len(encoding.low))
    if np.any(np.abs(per_feature[encoding.nominal & ~encoding.misses] - 1) > 1e-6):
        yield "sent codes that do not add up to its rows."


def encoded_spread_rule(encoding: Encoding, n_rows: int, mean: Float, m2: Float) -> Iterator[str]:
    """Spreads that numbers of these means in their range, and codes of these counts, can have."""
    if np.any(m2 < -SLACK * n_rows) or np.any(m2 > most_spread(n_rows, mean + encoding.midpoint) + SLACK * n_rows):
        yield "sent a spread that no values in [0, 1] of this mean have."
    counts = _counts_of_rows(encoding)
    if np.any(np.abs(m2[counts] - n_rows * mean[counts] * (1 - mean[counts])) > 1e-6 * n_rows):
        yield "sent spreads of codes that no counts of rows have."
    point = (encoding.low == encoding.high)[encoding.owner] & encoding.numbers
    if np.any((mean[point] != 0) | (m2[point] != 0)):
        yield "sent other moments than 0 for a feature whose range is one point."


def within_rule(n_rows: int, sums: Float, m2: Float) -> Iterator[str]:
    """Columns from the site's own mean add up to 0, and values in [0, 1] spread no further than half of them at 1."""
    if np.any(sums != 0):
        yield "sent sums of columns that were to be taken from its own mean."
    if np.any(m2 < -SLACK * n_rows) or np.any(m2 > (0.25 + SLACK) * n_rows):
        yield "sent a spread that no values in [0, 1] have."


def _counts_of_rows(encoding: Encoding) -> Bool:
    """The columns that are 0 or 1 in each row: where values are missing, and codes of which no mean stands in."""
    return encoding.tells | (~np.isnan(encoding.code) & ~encoding.misses[encoding.owner])


def encoded_ranges_rule(
    ranges: Ranges, columns: Columns, encoding: Encoding, n_rows: int, mean: Float, m2: Float
) -> Iterator[str]:
    """Codes outside the ranges that the client named do not occur; its numbers reach both ends and stay within.

    Means of all sites, which stand in for missing values, may lie outside.
    """
    place = {name: index for index, name in enumerate(ranges.features)}
    named = np.array([place[name] for name in columns.features])[encoding.owner]
    low, high = ranges.low[named], ranges.high[named]
    whole = ~encoding.misses[encoding.owner]
    foreign = ((encoding.code < low) | (encoding.code > high)) & whole  # never of a number (NaN)
    if np.any(mean[foreign] != 0):
        yield "sent counts of codes that contradict its ranges."
    number = encoding.numbers & whole
    owner, scaled = encoding.owner[number], (mean + encoding.midpoint)[number]
    ends = (low[number], high[number], encoding.low[owner], encoding.high[owner])
    yield from spread_in_range_rule(*ends, np.full(len(owner), n_rows), scaled, m2[number])

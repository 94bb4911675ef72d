"""Rules that moments of encoded columns obey: numbers in their ranges, codes that are counts of rows."""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Float
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
    counts = n_rows * mean[coded]
    if np.any(np.abs(counts - np.round(counts)) > 1e-6):
        yield "sent means of codes that are no counts of rows."
    per_feature = np.bincount(encoding.owner[coded], weights=mean[coded], minlength=len(encoding.low))
    if np.any(np.abs(per_feature[encoding.nominal] - 1) > 1e-6):
        yield "sent codes that do not add up to its rows."


def encoded_spread_rule(encoding: Encoding, n_rows: int, mean: Float, m2: Float) -> Iterator[str]:
    """Spreads that numbers of these means in their range, and codes of these counts, can have."""
    if np.any(m2 < -SLACK * n_rows) or np.any(m2 > most_spread(n_rows, mean + encoding.midpoint) + SLACK * n_rows):
        yield "sent a spread that no values in [0, 1] of this mean have."
    coded = ~np.isnan(encoding.code)
    if np.any(np.abs(m2[coded] - n_rows * mean[coded] * (1 - mean[coded])) > 1e-6 * n_rows):
        yield "sent spreads of codes that no counts of rows have."
    point = (encoding.low == encoding.high)[encoding.owner] & ~coded
    if np.any((mean[point] != 0) | (m2[point] != 0)):
        yield "sent other moments than 0 for a feature whose range is one point."


def encoded_ranges_rule(
    ranges: Ranges, columns: Columns, encoding: Encoding, n_rows: int, mean: Float, m2: Float
) -> Iterator[str]:
    """Codes outside the ranges that the client named do not occur; its numbers reach both ends and stay within."""
    place = {name: index for index, name in enumerate(ranges.features)}
    named = np.array([place[name] for name in columns.features])[encoding.owner]
    low, high = ranges.low[named], ranges.high[named]
    foreign = (encoding.code < low) | (encoding.code > high)  # never of a number (NaN)
    if np.any(mean[foreign] != 0):
        yield "sent counts of codes that contradict its ranges."
    number = np.isnan(encoding.code)
    owner, scaled = encoding.owner[number], (mean + encoding.midpoint)[number]
    ends = (low[number], high[number], encoding.low[owner], encoding.high[owner])
    yield from spread_in_range_rule(*ends, np.full(len(owner), n_rows), scaled, m2[number])

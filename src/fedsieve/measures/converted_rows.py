"""Whether rows that are there would lie among others, of which only bins are known, were they in another unit."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.binning import bin_counts
from fedsieve.measures.units import BOTH_WAYS, Conversion
from fedsieve.measures.unlikeness import by_chance, distance, is_unlike

ELSEWHERE = 0.75  # share of rows in other bins from which on a unit is looked for
AMONG = 0.3  # share that may lie in other bins after it
AT_MOST = 0.5  # also where chance explains more


def conversion_of(values: Float, edges: Float, others: Int) -> Conversion | None:
    """What turned the others' values into these, where these are elsewhere and, turned back, among them.

    >>> edges, others = np.array([70.0, 90, 110, 130]), np.array([10, 100, 120, 90, 20])
    >>> back = conversion_of(np.array([4.1, 4.6, 5.2, 5.5, 5.8, 6.2, 6.8] * 5), edges, others)
    >>> back.looks_like
    "1/18 of the others'"
    """
    here = bin_counts(values, edges)
    apart = distance(here, others)
    if apart < ELSEWHERE or not is_unlike(apart, *by_chance(here, others)):
        return None
    middle = float(np.nanmedian(values))
    possible = [one for one in BOTH_WAYS if one.low <= (middle - one.offset) / one.factor <= one.high]
    turned = [bin_counts((values - one.offset) / one.factor, edges) for one in possible]
    left = [distance(counts, others) for counts in turned]
    best = int(np.argmin(left))
    by_chance_too = left[best] <= AT_MOST and not is_unlike(left[best], *by_chance(turned[best], others))
    return possible[best] if left[best] <= AMONG or by_chance_too else None

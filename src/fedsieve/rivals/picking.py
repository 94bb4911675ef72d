"""The best of several scores, the same on every machine: rounding in the last digits decides no rank."""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.rounding import rounded


def order_by(*scores: Float) -> Int:
    """All features, best first, by the first score, then by the next; ties go to the smaller index.

    >>> order_by(np.array([0.3, 0.1 + 0.2, 0.5]))
    array([2, 0, 1])
    """
    columns = np.arange(len(scores[0]))
    order: Int = np.lexsort([columns, *(-rounded(score) for score in reversed(scores))])
    return order


def best_of(candidates: Bool, *scores: Float) -> int:
    """The best candidate by the first score, then by the next; ties go to the smaller index.

    >>> best_of(np.array([True, True, False]), np.array([0.3, 0.1 + 0.2, 0.5]))
    0
    """
    remaining = np.flatnonzero(candidates)
    for score in scores:
        values = rounded(score[remaining])
        remaining = remaining[values == values.max()]
    return int(remaining[0])

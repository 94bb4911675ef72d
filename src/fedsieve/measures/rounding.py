"""Scores without the digits that depend on the order of additions, so that no rank depends on a machine."""

import math

import numpy as np

from fedsieve.arrays import Float

DECIMALS = 10  # relative to the largest score


def rounded(scores: Float) -> Float:
    """Scores in units of the largest one's power of ten, rounded.

    >>> rounded(np.array([0.1 + 0.2, 0.3]))
    array([3., 3.])
    """
    largest = float(np.abs(scores).max(initial=0.0))
    scale = 10.0 ** math.floor(math.log10(largest)) if 0 < largest < math.inf else 1.0
    return np.round(scores / scale, DECIMALS)

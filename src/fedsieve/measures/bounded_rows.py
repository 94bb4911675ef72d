"""Rows of whole numbers whose length is bounded exactly: what one row can add to a sum is known to the digit."""

import numpy as np

from fedsieve.arrays import Float, Int

MAX_RADIUS = 1 << 20  # so that rounding cannot lift a length above a whole radius
MAX_VALUE = 1 << 22  # of a number before rows are bounded: squares of it add up in 64 bits


def whole(values: Float) -> Int:
    """Numbers cut to whole ones towards 0, at most `MAX_VALUE` in size; what is no number counts as 0.

    >>> whole(np.array([[1.9, -1.9, 1e300, np.nan]]))
    array([[      1,      -1, 4194304,       0]])
    """
    within = np.clip(np.nan_to_num(values, nan=0.0), -float(MAX_VALUE), float(MAX_VALUE))
    return np.trunc(within).astype(np.int64)


def bounded(rows: Int, radius: int) -> Int:
    """Rows with their direction, nearly, and a length of at most `radius`, exactly.

    A longer row is multiplied by radius / length and cut towards 0. The factor may be rounded up, by less than 2**-50;
    then the cut row's squared length, a whole number, is below radius² (1 + 2**-49) < radius² + 1: at most radius².
    A row's result depends on this row alone: its length is a sum of whole numbers, in any order the same.

    >>> bounded(np.array([[3, 4], [30, -40], [0, 99]]), 10)
    array([[ 3,  4],
           [ 6, -8],
           [ 0, 10]])
    """
    if not 0 < radius <= MAX_RADIUS:
        raise ValueError(f"radius must be in [1, {MAX_RADIUS}]; got {radius}.")
    squared = (rows * rows).sum(axis=1)
    factor = radius / np.sqrt(np.maximum(squared, 1).astype(np.float64))
    cut = np.trunc(rows * factor[:, None]).astype(np.int64)
    return np.where((squared <= radius * radius)[:, None], rows, cut)

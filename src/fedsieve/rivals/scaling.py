"""Columns moved to [0, 1], for methods that measure distances across features."""

import numpy as np

from fedsieve.arrays import Float


def unit_scaled(X: Float) -> Float:
    """Each column's [min, max] becomes [0, 1]; a constant column becomes 0.

    >>> unit_scaled(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0]]))
    array([[0. , 0. ],
           [0.5, 0. ],
           [1. , 0. ]])
    """
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    scaled: Float = (X - low) / np.where(width > 0, width, 1.0)
    return scaled

"""Continuous columns cut into bins, for methods that count."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.entropies import unit_bins
from fedsieve.rivals.scaling import unit_scaled


def equal_width_bins(X: Float, n_bins: int) -> Int:
    """Each column cut into `n_bins` intervals of [min, max]; a value on an edge lies above it; 0/1 columns stay.

    >>> equal_width_bins(np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 1.0], [6.0, 1.0]]), 3)
    array([[0, 1],
           [1, 0],
           [1, 1],
           [2, 1]])
    """
    binary = ((X == 0) | (X == 1)).all(axis=0)
    bins: Int = np.where(binary, X, unit_bins(unit_scaled(X), n_bins)).astype(np.int64)
    return bins

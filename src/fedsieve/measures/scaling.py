"""Columns moved to [0, 1] or cut into bins, for methods that compare features with each other."""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.entropies import unit_bins


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


def column_means(table: Float) -> Float:
    """The mean of each column; of a constant one exactly its value, so that its deviations are exactly 0."""
    if not len(table):
        return np.zeros(table.shape[1])
    mean: Float = np.where(np.ptp(table, axis=0) > 0, table.mean(axis=0), table[0])
    return mean


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


def is_constant(table: Float) -> Bool:
    """Which columns hold one value only."""
    constant: Bool = table.max(axis=0) == table.min(axis=0)
    return constant

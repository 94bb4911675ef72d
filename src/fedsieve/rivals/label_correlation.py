"""Pearson correlation and cosine of all features with all labels (or with each other), by one matrix product.

Both are rounded, so that features that are equal up to scale and shift have equal numbers on every machine.
"""

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.measures.rounding import DECIMALS
from fedsieve.rivals.scaling import unit_scaled


def pearson(A: Float, B: Float, undefined: float = 0.0) -> Float:
    """Correlation of each column of A with each of B, (n_columns_a, n_columns_b).

    With a constant column, correlation is not defined: such pairs get `undefined`.

    >>> A = np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0]])
    >>> pearson(A, -A, undefined=np.nan)
    array([[-1., nan],
           [nan, nan]])
    """
    left, right = _centered(A), _centered(B)
    correlation = _rounded(left.T @ right)
    correlation[is_constant(A), :] = undefined
    correlation[:, is_constant(B)] = undefined
    return correlation


def correlation_distance(X: Float, Y: Float, undefined: float = 1.0) -> Float:
    """1 - correlation of each feature with each label, in [0, 2]; pairs with a constant column get `undefined`.

    1 says "not correlated". Published codes that turn NaN into 0 say "perfectly correlated" of constant columns.

    >>> X = np.array([[0.0, 3.0], [1.0, 3.0]])
    >>> correlation_distance(X, X[:, :1]), correlation_distance(X, X[:, :1], undefined=0.0)
    (array([[0.], [1.]]), array([[0.], [0.]]))
    """
    return 1.0 - pearson(X, Y, undefined=1.0 - undefined)


def cosine(A: Float, B: Float) -> Float:
    """Cosine of each column of A with each of B, without centering; 0 with a column of zeros.

    >>> cosine(np.array([[3.0, 0.0], [4.0, 0.0]]), np.array([[1.0], [0.0]]))
    array([[0.6], [0. ]])
    """
    return _rounded(_unit(A).T @ _unit(B))


def is_constant(table: Float) -> Bool:
    """Which columns hold one value only."""
    constant: Bool = table.max(axis=0) == table.min(axis=0)
    return constant


def _rounded(products: Float) -> Float:
    within: Float = np.clip(products, -1.0, 1.0)
    return np.round(within, DECIMALS)


def _centered(table: Float) -> Float:
    """Columns with mean 0 and length 1; scaled first, so that squares neither overflow nor vanish."""
    scaled = unit_scaled(table)
    return _unit(scaled - scaled.mean(axis=0))


def _unit(table: Float) -> Float:
    largest = np.abs(table).max(axis=0)
    scaled = table / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt((scaled * scaled).sum(axis=0))
    unit: Float = scaled / np.where(lengths > 0, lengths, 1.0)
    return unit

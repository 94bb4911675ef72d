"""Correlations from sums of products, partial ones from those, and how likely they are by chance (Fisher's z)."""

import numpy as np

from fedsieve.arrays import Float, Int

LEFT = 1e-10  # of its variance: less is rounding, and the variable is determined by the given ones


def correlations(products: Float) -> Float:
    """Correlation matrix from the sums of products of deviations; a constant column is correlated with nothing.

    >>> correlations(np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 0. ]])
    """
    length = np.sqrt(np.diagonal(products))
    per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return np.clip(products * per_length[:, None] * per_length, -1.0, 1.0)


def partial_correlations(correlation: Float, first: Int, second: Int, given: Int) -> Float:
    """The correlation of each pair once the given variables, one row of `given` per pair, are accounted for.

    0 where the given ones leave one of the pair without variance.

    >>> R = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> partial_correlations(R, np.array([0]), np.array([1]), np.array([[2]]))
    array([0.33333333])
    """
    if given.shape[1] == 0:
        plain: Float = correlation[first, second]
        return plain
    last, others = given[:, -1], given[:, :-1]
    pair = partial_correlations(correlation, first, second, others)
    one = partial_correlations(correlation, first, last, others)
    other = partial_correlations(correlation, second, last, others)
    left_of_one, left_of_other = 1.0 - one**2, 1.0 - other**2
    defined = (left_of_one > LEFT) & (left_of_other > LEFT)
    room = np.sqrt(np.where(defined, left_of_one * left_of_other, 1.0))
    return np.where(defined, np.clip((pair - one * other) / room, -1.0, 1.0), 0.0)


def chance_of(correlation: Float, n_rows: int, n_given: int) -> Float:
    """The p-value of partial correlations of that many rows given that many variables, two-sided.

    >>> chance_of(np.array([0.0, 0.5, 1.0]), 20, 1).round(4)
    array([1.   , 0.028, 0.   ])
    """
    from scipy.special import erfc  # takes long to load, and a site's process does without

    with np.errstate(divide="ignore"):
        z = np.sqrt(n_rows - n_given - 3) * np.arctanh(np.abs(correlation))
    p: Float = erfc(z / np.sqrt(2.0))
    return p

"""Correlations of columns, from the columns or from sums of products; partial ones, and how likely they are by chance.

Those from columns are rounded: columns equal up to scale and shift get equal numbers on every machine.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.scaling import is_constant, unit_scaled
from fedsieve.ordering import DECIMALS, rounded

LEFT = 1e-10  # of its variance: less is rounding, and the variable is determined by the given ones


def pearson(A: Float, B: Float, undefined: float = 0.0) -> Float:
    """Correlation of each column of A with each of B, (n_columns_a, n_columns_b).

    With a constant column, correlation is not defined: such pairs get `undefined`.

    >>> A = np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0]])
    >>> pearson(A, -A, undefined=np.nan)
    array([[-1., nan],
           [nan, nan]])
    """
    left, right = _centered(A), _centered(B)
    correlation = _within(left.T @ right)
    correlation[is_constant(A), :] = undefined
    correlation[:, is_constant(B)] = undefined
    return correlation


def pearson_distance(X: Float, Y: Float, undefined: float = 1.0) -> Float:
    """1 - correlation of each feature with each label, in [0, 2]; pairs with a constant column get `undefined`.

    1 says "not correlated". Published codes that turn NaN into 0 say "perfectly correlated" of constant columns.

    >>> X = np.array([[0.0, 3.0], [1.0, 3.0]])
    >>> pearson_distance(X, X[:, :1]), pearson_distance(X, X[:, :1], undefined=0.0)
    (array([[0.], [1.]]), array([[0.], [0.]]))
    """
    return 1.0 - pearson(X, Y, undefined=1.0 - undefined)


def cosine(A: Float, B: Float) -> Float:
    """Cosine of each column of A with each of B, without centering; 0 with a column of zeros.

    >>> cosine(np.array([[3.0, 0.0], [4.0, 0.0]]), np.array([[1.0], [0.0]]))
    array([[0.6], [0. ]])
    """
    return _within(_unit(A).T @ _unit(B))


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


def _within(products: Float) -> Float:
    return rounded(np.clip(products, -1.0, 1.0), DECIMALS)


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

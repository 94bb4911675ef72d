"""What several descriptions take for granted: bins, entropy, scaling, correlation, distance. Lists in, lists out."""

import math
from collections import Counter
from collections.abc import Sequence

from numpy.typing import ArrayLike

Column = list[float]


def columns(M: ArrayLike) -> list[Column]:
    """The columns of a matrix, as lists."""
    rows = [[float(v) for v in row] for row in M]
    return [[row[p] for row in rows] for p in range(len(rows[0]))]


def is_constant(column: Sequence[float]) -> bool:
    return all(v == column[0] for v in column)


def scaled(column: Sequence[float]) -> Column:
    """(x - min) / (max - min); a constant column becomes 0.

    >>> scaled([2, 4, 3])
    [0.0, 1.0, 0.5]
    """
    low, high = min(column), max(column)
    return [0.0 if low == high else (v - low) / (high - low) for v in column]


def binned(column: Sequence[float], n_bins: int) -> list[int]:
    """Equal-width bins on [min, max]; a value on an inner edge belongs to the upper bin.

    >>> binned([0, 1, 2, 4], 2)
    [0, 0, 1, 1]
    """
    return [min(math.floor(v * n_bins), n_bins - 1) for v in scaled(column)]


def entropy(*variables: Sequence[float]) -> float:
    """Joint entropy in bits of discrete variables, from their counts.

    >>> entropy([0, 0, 1, 1]), entropy([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 2.0)
    """
    n = len(variables[0])
    counts = Counter(zip(*variables, strict=True))
    return math.fsum(-(count / n) * math.log2(count / n) for count in counts.values())


def pearson(a: Sequence[float], b: Sequence[float]) -> float:
    """Correlation of two columns; NaN if one of them is constant.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    if is_constant(a) or is_constant(b):
        return math.nan
    mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    product = math.fsum((u - mean_a) * (v - mean_b) for u, v in zip(a, b, strict=True))
    squares_a = math.fsum((u - mean_a) ** 2 for u in a)
    squares_b = math.fsum((v - mean_b) ** 2 for v in b)
    return product / math.sqrt(squares_a * squares_b)


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Euclidean.

    >>> distance([0, 0], [3, 4])
    5.0
    """
    return math.sqrt(math.fsum((u - v) ** 2 for u, v in zip(a, b, strict=True)))

"""Clipped moments to the letter: one row after the other, in Python's own whole numbers and fractions."""

from fractions import Fraction
from math import isqrt

import numpy as np

RADIUS = 2**16
LARGEST = 2**22


def moments(rows: np.ndarray, center: np.ndarray, unit: np.ndarray, weights: np.ndarray, pairs: bool) -> list[int]:
    """The released vector, before noise, of encoded rows."""
    n, n_labels = len(center), weights.shape[1]
    count, sums, second = 0, [0] * n, [[0] * n for _ in range(n)]
    products = [[0] * n_labels for _ in range(n)]
    for row in rows:
        z = shortened([cut((x - c) * u) for x, c, u in zip(row, center, unit, strict=True)])
        predicted = [sum(a * int(w) for a, w in zip(z, column, strict=True)) for column in weights.T]
        p = shortened([cut(Fraction(value, 2**20)) for value in predicted])
        count += RADIUS
        for i in range(n):
            sums[i] += z[i]
            for j in range(n):
                second[i][j] += z[i] * z[j]
            for label in range(n_labels):
                products[i][label] += z[i] * p[label]
    kept = [second[i][j] for i in range(n) for j in range(i, n if pairs else i + 1)]
    return [count, *sums, *kept, *(value for line in products for value in line)]


def cut(value: float | Fraction) -> int:
    """To a whole number towards 0, no larger than `LARGEST`."""
    return int(min(max(value, -LARGEST), LARGEST))


def shortened(values: list[int]) -> list[int]:
    """At most `RADIUS` long."""
    squared = sum(value * value for value in values)
    if squared <= RADIUS**2:
        return values
    factor = RADIUS / squared**0.5
    cut_values = [int(value * factor) for value in values]
    assert sum(value * value for value in cut_values) <= RADIUS**2
    assert isqrt(squared) >= RADIUS
    return cut_values

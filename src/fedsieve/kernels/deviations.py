"""Deviations of columns from their means, by the sums that a site sent, and whether they can be deviations at all."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.kernels.compiled import compiled


def upper_deviations(upper: Float, sums: Float, n_rows: int, lengths: Float, room: float) -> tuple[Float, bool]:
    """The upper triangle of sums of products less those of the means, as (n, n), and whether all of them are small.

    None may be above the product of its two columns' `lengths`, but for `room`.

    >>> upper_deviations(np.array([4.0, 3.0, 5.0]), np.array([2.0, 1.0]), 2, np.ones(2), 0.0)
    (array([[2. , 2. ],
           [0. , 4.5]]), False)
    """
    # Copies: what lies in a message is read-only, anywhere in memory, of any kind, and each kind would be compiled for.
    upper, sums, lengths = (np.array(values, dtype=np.float64) for values in (upper, sums, lengths))
    return _upper_deviations(upper, sums, float(n_rows), lengths, room)


@compiled
def _upper_deviations(upper: Float, sums: Float, n_rows: float, lengths: Float, room: float) -> tuple[Float, bool]:
    n = len(sums)
    half, place, n_above = np.zeros((n, n)), 0, 0
    for row in range(n):
        mean, length = sums[row] / n_rows, lengths[row]
        for column in range(row, n):
            deviation = upper[place + column - row] - mean * sums[column]
            half[row, column] = deviation
            n_above += not abs(deviation) <= length * lengths[column] + room
        place += n - row
    return half, n_above == 0

"""All rows of a continuous table from its Gram matrix and the exact extremes of its columns.

XᵀX gives X up to a rotation: X = Q R with R known. The rotation must put every column within its extremes, with one row
at each: 2 d demands on n (n - 1) / 2 angles. A rotation that meets them is searched between the two sets, by projecting
to one and to the other (the difference map), and by polishing what comes near.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram

NOTHING = 1e-9  # relative: eigenvalues of a Gram matrix that rounding made
STEP = 0.7  # of the difference map
NEAR, EXACT = 1e-6, 1e-7  # apart when polishing begins, and when a table counts as found
N_STEPS, N_POLISHING = 3000, 300


def rows_within_extremes(gram: Gram, low: Float, high: Float, n_starts: int = 2) -> Float:
    """The rows, in some order; none where no start ends in a table with these products and extremes."""
    values, vectors = np.linalg.eigh(gram.products)
    kept = values > NOTHING * values[-1]
    R = (vectors[:, kept] * np.sqrt(values[kept])).T  # (rank, 1 + columns): the column of ones has extremes 1 and 1
    low, high = np.append(1.0, low), np.append(1.0, high)
    rng = np.random.default_rng(0)
    for _ in range(n_starts):
        rows = _searched(R, low, high, rng)
        if np.abs(_with_extremes(rows, low, high) - rows).max() <= EXACT * max(1.0, np.abs(rows).max()):
            return rows[:, 1:]
    return np.empty((0, R.shape[1] - 1))


def _searched(R: Float, low: Float, high: Float, rng: np.random.Generator) -> Float:
    place = np.linalg.qr(rng.normal(size=(len(R), len(R))))[0] @ R
    for _ in range(N_STEPS):
        turned = _rotated(place, R)
        bounded = _with_extremes(2 * turned - place, low, high)
        place = place + STEP * (bounded - turned)
        if np.abs(bounded - turned).max() < NEAR:
            break
    for _ in range(N_POLISHING):
        turned = _rotated(_with_extremes(turned, low, high), R)
    return turned


def _rotated(table: Float, R: Float) -> Float:
    """The nearest Q R."""
    u, _, vt = np.linalg.svd(table @ R.T)
    nearest: Float = (u @ vt) @ R
    return nearest


def _with_extremes(table: Float, low: Float, high: Float) -> Float:
    """The nearest table within the extremes that reaches each."""
    columns = np.arange(table.shape[1])
    nearest = np.clip(table, low, high)
    nearest[table.argmax(axis=0), columns] = high
    nearest[table.argmin(axis=0), columns] = low
    return nearest

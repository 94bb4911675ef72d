"""The bulk of a column's values: without those that lie so far out that they are likely typing errors."""

import numpy as np

from fedsieve.arrays import Bool, Float

FAR = 6.0  # spans between the quartiles, beyond them: a tenfold value lies further out, that of an honest tail hardly
MOST_ROWS = 4096  # that the quartiles are looked for in


def in_bulk(X: Float) -> Bool:
    """Which values lie within `FAR` quartile spans of the quartiles of their column; all of one whose quartiles agree.

    Missing values do not.

    >>> in_bulk(np.array([[1.0], [2.0], [3.0], [4.0], [300.0], [np.nan]])).ravel()
    array([ True,  True,  True,  True, False, False])
    """
    return within(X, bulk_ends(X[:: every_how_many(len(X))]))


def every_how_many(n_rows: int) -> int:
    """Of how many rows one is looked at to find the quartiles."""
    return max(1, n_rows // MOST_ROWS)


def bulk_ends(some: Float) -> tuple[Float, Float]:
    """Between which values the bulk of each column lies, by some of its rows."""
    n_columns = some.shape[1]
    if not len(some):
        return np.full(n_columns, -np.inf), np.full(n_columns, np.inf)
    ordered = np.sort(some, axis=0)  # missing values come last
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    low, high = (ordered[share * (np.maximum(count, 1) - 1) // 4, np.arange(n_columns)] for share in (1, 3))
    varies = high > low
    with np.errstate(invalid="ignore", over="ignore"):
        span = np.where(varies, high - low, 0.0)
        nearest, farthest = low - FAR * span, high + FAR * span
    return np.where(varies, nearest, -np.inf), np.where(varies, farthest, np.inf)


def within(X: Float, ends: tuple[Float, Float]) -> Bool:
    """Which values lie between; missing ones do not."""
    found: Bool = (ends[0] <= X) & (ends[1] >= X)
    return found

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
    if not len(X):
        return np.zeros(X.shape, dtype=bool)
    ordered = np.sort(X[:: max(1, len(X) // MOST_ROWS)], axis=0)  # missing values come last
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    low, high = (ordered[share * (np.maximum(count, 1) - 1) // 4, np.arange(X.shape[1])] for share in (1, 3))
    span = np.where(high > low, high - low, np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        nearest, farthest = low - FAR * span, high + FAR * span
    found: Bool = (nearest <= X) & (farthest >= X) | (~np.isnan(X) & np.isinf(span))
    return found

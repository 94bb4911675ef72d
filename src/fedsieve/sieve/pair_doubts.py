"""What pairs of columns tell against an error rate: knockoffs follow straight lines, and correlations of all rows."""

from statistics import NormalDist

import numpy as np

from fedsieve.arrays import Bool, Float, Int

RARE = 1e-3  # the probability of such a pair, over all of them
GAUSSIAN = 3.0  # fourth moment, in squared variances
FAINT = 1e-4  # a share of unrelated columns among correlations, so that those of copies can be inverted
LEFT = 0.01  # of a column's variance; what a line leaves of one that follows from others is no column
NEARLY_ONE = 0.9999  # of which Fisher's z is finite
COPIES = 0.99  # an absolute correlation above which a lasso does not tell two columns from each other


def mismatched(X: Float, covariance: Float, told: Bool) -> Bool:
    """Columns with a correlation in the labeled rows that is not that of all rows, by Fisher's z for all pairs.

    Its variance is κ / 3 / (n - 3) where tails are alike, κ being the fourth moment in squared variances, and that of
    few values of a column with short tails no less than a Gaussian's. Only columns that are `told` of count.
    """
    Z = _standardized(X)
    tails = np.sqrt(np.maximum((Z**4).mean(axis=0), GAUSSIAN) / GAUSSIAN)
    error = np.sqrt(np.outer(tails, tails) / max(len(X) - 3, 1))
    apart = np.abs(_fisher(Z.T @ Z / len(X)) - _fisher(correlations(covariance))) / error
    return _in_pairs(apart, told)


def bent(X: Float, covariance: Float, unit: Int, told: Bool) -> Bool:
    """Columns of different units of which one goes with the square of the other, beyond a straight line in all others.

    Where rows are Gaussian, what such a line leaves of a column goes with nothing that the others tell. The sum of its
    products with a square, over their own length, is held against a normal bound for all pairs together: heavy tails
    make it no larger. Only columns that are `told` of count.
    """
    Z, R = _standardized(X), correlations(covariance)
    inverse = np.linalg.inv((1 - FAINT) * R + FAINT * np.eye(len(R)))
    left = 1 / np.diagonal(inverse)
    rest = Z @ (inverse * (left * (left > LEFT)))
    rest -= rest.mean(axis=0)
    squares = Z**2 - 1
    length = np.sqrt((rest**2).T @ squares**2)
    apart = np.abs(np.divide(rest.T @ squares, length, out=np.zeros_like(length), where=length > 0))
    return _in_pairs(apart * (unit[:, None] != unit), told)


def copies(alike: Float) -> tuple[tuple[int, int], ...]:
    """Pairs of columns that can hardly be told from each other, the most alike first."""
    first, second = np.nonzero(np.triu(alike > COPIES, k=1))
    by_likeness = np.argsort(-np.round(alike[first, second], 9), kind="stable")
    return tuple(zip(first[by_likeness].tolist(), second[by_likeness].tolist(), strict=True))


def between_units(covariance: Float, unit: Int) -> Float:
    """Absolute correlations of columns of different units; 0 within a unit."""
    return np.asarray(np.abs(correlations(covariance)) * (unit[:, None] != unit))


def correlations(covariance: Float) -> Float:
    """With 1 of each column with itself, and 0 of what does not vary with all others."""
    deviation = np.sqrt(np.diagonal(covariance))
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    found = covariance * np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def _standardized(X: Float) -> Float:
    """Deviations from the mean in standard deviations; 0 of a column that has none."""
    moved = X - X.mean(axis=0)
    deviation = np.sqrt((moved**2).mean(axis=0))
    return np.asarray(np.divide(moved, deviation, out=np.zeros_like(moved), where=deviation > 0))


def _fisher(correlation: Float) -> Float:
    return np.asarray(np.arctanh(np.clip(correlation, -NEARLY_ONE, NEARLY_ONE)))


def _in_pairs(apart: Float, told: Bool) -> Bool:
    """Columns in pairs that are further apart than the two-sided normal bound for all ordered pairs together."""
    bound = -NormalDist().inv_cdf(RARE / (2 * max(len(told) * (len(told) - 1), 1)))
    pairs = (apart > bound) & told & told[:, None]
    np.fill_diagonal(pairs, val=False)
    return np.asarray(pairs.any(axis=0) | pairs.any(axis=1))

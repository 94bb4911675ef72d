"""What can be seen in the rows that speaks against an error rate by knockoffs, column by column.

Knockoffs stand for Gaussian rows of the mean and covariance of all rows. Labeled rows that are none break the promise;
columns that are nearly the same keep it, but hide each other.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.sieve.pair_doubts import bent, between_units, copies, mismatched

PEAKED = 10.0  # a fourth moment, in squared variances, of which a Gaussian has 3 and a 0/1 column of 1 in 12 has 10
GAUSSIAN = 3.0
RARE = 1e-3  # the probability of such a difference between labeled and all rows, over all columns


@dataclass(frozen=True, eq=False)
class Doubts:
    """What was seen, per column."""

    peaked: Bool  # far from Gaussian
    two_valued: Bool  # it varies, with two values in the labeled rows or one, as 0/1 columns and those of codes
    shifted: Bool  # labeled rows lie elsewhere than all rows
    wider: Bool  # labeled rows spread wider than all rows
    mismatched: Bool  # its correlations in labeled rows are not those of all rows
    bent: Bool  # it goes with the square of another column, or another with its square, beyond a straight line
    nearest: Float  # the largest absolute correlation with a column of another unit
    copies: tuple[tuple[int, int], ...]  # pairs of columns that can hardly be told from each other


def doubts_of(X: Float, mean: Float | None, covariance: Float, unit: Int) -> Doubts:
    """Labeled rows beside the mean and covariance of all rows; without a mean only correlations count."""
    none = np.zeros(len(unit), dtype=bool)
    alike, far = between_units(covariance, unit), peaked(X)
    told = ~far & (np.ptp(X, axis=0) > 0) & (np.diagonal(covariance) > 0)
    return Doubts(
        peaked=far,
        two_valued=two_valued(X) & (np.diagonal(covariance) > 0),
        shifted=none if mean is None else shifted(X, mean, np.diagonal(covariance)),
        wider=none if mean is None else wider(X, np.diagonal(covariance)),
        mismatched=mismatched(X, covariance, told),
        bent=bent(X, covariance, unit, told),
        nearest=alike.max(axis=0, initial=0.0),
        copies=copies(alike),
    )


def peaked(X: Float) -> Bool:
    """Far from Gaussian: nearly constant, or with far outliers."""
    squares = (X - X.mean(axis=0)) ** 2
    return np.asarray((squares**2).mean(axis=0) > PEAKED * squares.mean(axis=0) ** 2)


def two_valued(X: Float) -> Bool:
    """All values are the least or the largest."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(((low == X) | (high == X)).all(axis=0))


def shifted(X: Float, mean: Float, variance: Float) -> Bool:
    """The two-sided normal bound of the mean of so many rows, for all columns together."""
    bound = -NormalDist().inv_cdf(RARE / (2 * len(mean))) * np.sqrt(variance / len(X))
    return np.asarray((np.abs(X.mean(axis=0) - mean) > bound) & (variance > 0))


def wider(X: Float, variance: Float) -> Bool:
    """Where labeled rows spread wider than all rows: the one-sided normal bound of the logarithm of a variance.

    Its variance is (κ - 1) / n, κ being the fourth moment in squared variances; that of few values of a column with
    short tails is no less than a Gaussian's. Narrower rows cost power, not the rate: their knockoffs win too often.
    """
    squares = (X - X.mean(axis=0)) ** 2
    own = squares.mean(axis=0)
    varies = (own > 0) & (variance > 0)
    ratio = np.divide(own, variance, out=np.ones_like(own), where=varies)
    tails = np.divide((squares**2).mean(axis=0), own**2, out=np.zeros_like(own), where=varies)
    error = np.sqrt((np.maximum(tails, GAUSSIAN) - 1) / len(X))
    return np.asarray(np.log(ratio) > -NormalDist().inv_cdf(RARE / len(own)) * error)

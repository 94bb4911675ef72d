"""How well scores tell members of a table from other rows: areas and shares under a ROC curve, with intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float

N_BOOTSTRAPS = 1000
INTERVAL = (0.025, 0.975)  # of bootstraps: 95 % of them lie between


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


def area_under_curve(of_members: Float, of_others: Float) -> float:
    """How often a member scores above another row; 0.5 is chance.

    >>> area_under_curve(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    others = np.sort(of_others)
    below = np.searchsorted(others, of_members, "left")
    not_above = np.searchsorted(others, of_members, "right")
    return float(np.mean(below + not_above) / (2 * len(others)))


def true_positives_at(rate: float, of_members: Float, of_others: Float) -> float:
    """The share of members above a threshold that at most this share of other rows is above.

    >>> true_positives_at(0.25, np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 2.0, 4.0]))
    0.6666666666666666
    """
    n_allowed = int(np.floor(rate * len(of_others) + 1e-9))
    threshold = np.sort(of_others)[len(of_others) - 1 - n_allowed]
    return float(np.mean(of_members > threshold))


def with_interval(
    measure: Callable[[Float, Float], float], of_members: Float, of_others: Float, rng: np.random.Generator
) -> Measured:
    """A measure of two samples, and between which values it lies when both are drawn again with replacement."""
    drawn = [
        measure(rng.choice(of_members, len(of_members)), rng.choice(of_others, len(of_others)))
        for _ in range(N_BOOTSTRAPS)
    ]
    low, high = np.quantile(drawn, INTERVAL)
    return Measured(measure(of_members, of_others), float(low), float(high))


def share_with_interval(share: float, n: int) -> Measured:
    """A share of n cases with Wilson's interval, which is honest at 0 and 1 too.

    >>> share_with_interval(0.0, 100).high < 0.04
    True
    """
    z2 = 1.959964**2
    middle, width = share + z2 / (2 * n), np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2)))
    low, high = (middle - width) / (1 + z2 / n), (middle + width) / (1 + z2 / n)
    return Measured(share, min(share, float(max(low, 0.0))), max(share, float(min(high, 1.0))))

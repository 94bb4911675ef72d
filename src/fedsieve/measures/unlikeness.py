"""How unlike two groups of rows are in a column, from how many of each lie in its bins."""

import numpy as np

from fedsieve.arrays import Int

LEAST = 0.1  # share of rows in other bins that is worth telling
TIMES = 5.0  # standard deviations beyond what chance makes of rows that are alike


def distance(own: Int, others: Int) -> float:
    """The share of the rows that would have to lie in other bins: 0 alike, 1 apart.

    >>> distance(np.array([3, 1]), np.array([1, 1]))
    0.25
    """
    here, there = (counts / max(counts.sum(), 1) for counts in (own, others))
    return float(0.5 * np.abs(here - there).sum())


def by_chance(own: Int, others: Int) -> tuple[float, float]:
    """Mean and standard deviation of the distance if the same rows were dealt to the two groups at random.

    A bin's shares then differ by a nearly normal number of variance q (1 - q) (1/n + 1/m) N / (N - 1), q being its
    share of all N = n + m rows; the absolute value of one of variance v has mean √(2v/π) and variance v (1 - 2/π).
    """
    n, m = int(own.sum()), int(others.sum())
    if min(n, m) == 0 or n + m < 3:  # of next to no rows, chance makes anything
        return 1.0, 0.0
    share = (own + others) / (n + m)
    variance = share * (1 - share) * (1 / n + 1 / m) * (n + m) / (n + m - 1)
    mean = 0.5 * np.sqrt(2 / np.pi * variance).sum()
    return float(mean), float(0.5 * np.sqrt((1 - 2 / np.pi) * variance.sum()))


def is_unlike(apart: float, mean: float, deviation: float) -> bool:
    """Whether a distance is worth a look: large, and larger than chance makes it."""
    return apart >= LEAST and apart > mean + TIMES * deviation

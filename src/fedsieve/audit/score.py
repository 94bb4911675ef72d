"""How much of a site's table a guess has right, and what guessing from the columns' own frequencies would have."""

from collections import Counter

import numpy as np

from fedsieve.arrays import Float, Int

NEAR = 1e-6  # a value within this is read, not guessed


def share_of_rows(guess: Float, truth: Float) -> float:
    """The share of the table's rows that the guess holds, every value right; a row found twice counts once.

    >>> share_of_rows(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    0.5
    """
    found, present = (Counter(map(tuple, np.round(table / NEAR).astype(np.int64))) for table in (guess, truth))
    return sum((found & present).values()) / len(truth)


def share_of_values(guess: Float, truth: Float) -> float:
    """The share of values that a guess has right, of those that it makes: NaN is none.

    >>> share_of_values(np.array([[1.0, np.nan, 2.0]]), np.array([[1.0, 0.0, 3.0]]))
    0.5
    """
    made = ~np.isnan(guess)
    near = np.abs(guess - truth) <= NEAR * np.maximum(1.0, np.abs(truth))
    return float(near[made].mean()) if made.any() else 0.0


def share_replaced(before: Int, after: Int, k: int) -> float:
    """The share of the k best of one order that are not among the k best of another.

    >>> share_replaced(np.array([2, 0, 1]), np.array([2, 1, 0]), 2)
    0.5
    """
    return 1 - len(np.intersect1d(before[:k], after[:k])) / k


def share_by_chance(truth: Float) -> float:
    """The same for a server that knows every column's frequencies and draws as many rows from them, on average.

    >>> share_by_chance(np.array([[1.0], [1.0], [1.0], [0.0]]))
    1.0
    """
    rng = np.random.default_rng(0)
    drawn = [np.column_stack([rng.permutation(column) for column in truth.T]) for _ in range(20)]
    return float(np.mean([share_of_rows(table, truth) for table in drawn]))

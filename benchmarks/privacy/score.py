"""How much of a site's table a guess has right, and what guessing from the columns' own frequencies would have."""

from collections import Counter

import numpy as np

from fedsieve.arrays import Float

NEAR = 1e-6  # a value within this is read, not guessed


def share_of_rows(guess: Float, truth: Float) -> float:
    """The share of the table's rows that the guess holds, every value right; a row found twice counts once.

    >>> share_of_rows(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    0.5
    """
    found, present = (Counter(map(tuple, np.round(table / NEAR).astype(np.int64))) for table in (guess, truth))
    return sum((found & present).values()) / len(truth)


def share_by_chance(truth: Float) -> float:
    """The same for a server that knows every column's frequencies and draws as many rows from them, on average.

    >>> share_by_chance(np.array([[1.0], [1.0], [1.0], [0.0]]))
    1.0
    """
    rng = np.random.default_rng(0)
    drawn = [np.column_stack([rng.permutation(column) for column in truth.T]) for _ in range(20)]
    return float(np.mean([share_of_rows(table, truth) for table in drawn]))

"""A forward search: features join one by one, as long as the best of them adds enough."""

from collections.abc import Callable, Sequence

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import Rule
from fedsieve.ordering import best_of

FINITE: Rule = "a number of at least 0, and finite", lambda value: 0 <= value < np.inf
"""What an increase or a radius must be."""
NOISE = 1e-10  # in an increase of a criterion


def forward(
    eligible: Bool,
    criteria: Callable[[Int], Sequence[Float]],
    start: Sequence[float],
    ties: Sequence[Float],
    add: Callable[[int], None],
    enough: Callable[[Float], bool],
) -> tuple[list[int], Sequence[Float]]:
    """Features picked one by one, until the next pick's increases are `enough` to stop; and the first criteria.

    `criteria(features)` values S + f for each f of `features`, one array for each criterion, the first decides; then
    the next, then `ties` (values of all features), then the smaller index. `start` are the criteria without features.
    """
    left, current = eligible.copy(), np.array(start)
    picked: list[int] = []
    alone: Sequence[Float] = ()
    while left.any():
        features = np.flatnonzero(left)
        values = criteria(features)
        alone = alone or values
        best = best_of(np.ones(len(features), dtype=bool), *values, *(tie[features] for tie in ties))
        reached = np.array([value[best] for value in values])
        if enough(reached - current):
            break
        current = reached
        picked.append(int(features[best]))
        left[picked[-1]] = False
        add(picked[-1])
    return picked, alone


def followed_by(picked: list[int], others: Int) -> Int:
    """The picked features, then the rest of them in the order of `others`.

    >>> followed_by([2], np.array([0, 2, 1]))
    array([2, 0, 1])
    """
    return np.array([*picked, *(f for f in others.tolist() if f not in set(picked))], dtype=np.int64)


def carries_all(Y: Float) -> Bool:
    """(n, n): whether sample j carries every label that sample i carries."""
    carried: Bool = Y.sum(axis=1)[:, None] <= Y @ Y.T
    return carried

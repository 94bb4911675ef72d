"""BMFS: features matched to labels at the least total correlation distance, round after round."""

import itertools
import math
from collections.abc import Sequence

from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from .basics import columns, is_constant, pearson


def order(X: ArrayLike, Y: ArrayLike, constant: str = "last") -> list[int]:
    """Features, best first: each round gives every label a feature, listed from the most frequent label on.

    Constant features: "last" ranks them behind all others in index order, "published" gives them cost 0.
    """
    if constant not in ("last", "published"):
        raise ValueError(f"constant must be 'last' or 'published'; got {constant!r}.")
    features, labels = columns(X), columns(Y)
    cost = costs(features, labels)
    by_frequency = sorted(range(len(labels)), key=lambda t: (-sum(labels[t]), t))
    left_out = [p for p, column in enumerate(features) if constant == "last" and is_constant(column)]
    remaining = [p for p in range(len(features)) if p not in left_out]
    ranked: list[int] = []
    while remaining:
        match = cheapest_match([cost[p] for p in remaining])
        ranked += [remaining[match[t]] for t in by_frequency if t in match]
        remaining = [p for p in remaining if p not in ranked]
    return ranked + left_out


def costs(features: Sequence[Sequence[float]], labels: Sequence[Sequence[float]]) -> list[list[float]]:
    """C[f][l] = 1 - correlation, and 0 where the feature or the label is constant.

    A constant label has cost 0 under both treatments of constant features: the description only names the column.
    """
    C = []
    for f in features:
        row = [pearson(f, y) for y in labels]
        C.append([0.0 if math.isnan(r) else 1 - r for r in row])
    return C


def cheapest_match(C: Sequence[Sequence[float]]) -> dict[int, int]:
    """Label -> row of C, of least total cost. Costs lie in [0, 2]: 10 decimals keep rounding from choosing."""
    rows, labels = linear_sum_assignment([[round(c, 10) for c in row] for row in C])
    return {int(t): int(row) for row, t in zip(rows, labels, strict=True)}


def cheapest_cost(C: Sequence[Sequence[float]]) -> float:
    """The least total cost over all matches, tried one by one.

    >>> cheapest_cost([[1, 2], [1, 4], [5, 5]])
    3
    """
    n_rows, n_labels = len(C), len(C[0])
    if n_rows >= n_labels:
        trials = itertools.permutations(range(n_rows), n_labels)
        return min(sum(C[row][t] for t, row in enumerate(trial)) for trial in trials)
    trials = itertools.permutations(range(n_labels), n_rows)
    return min(sum(C[row][t] for row, t in enumerate(trial)) for trial in trials)

"""FMLFS: sites average what features tell of labels and how far features lie apart; fronts of the two rank them."""

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from .basics import columns, entropy
from .rounding import rounded


def fmlfs_loops(
    sites: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    n_bins: int = 3,
    weighting: str = "rows",
    relevance: str = "mean",
) -> dict[str, Any]:
    """relevance, apart, front (from 1), crowding and score of every feature, and their order, best first."""
    tables = [(columns(X), columns(Y)) for X, Y in sites]
    n_rows = [len(labels[0]) for _, labels in tables]
    n_features, n_labels = len(tables[0][0]), len(tables[0][1])
    told = [[0.0] * n_labels for _ in range(n_features)]
    distance = [[0.0] * n_features for _ in range(n_features)]
    ranges = []
    for f in range(n_features):
        seen = [v for features, _ in tables for v in features[f]]
        ranges.append((min(seen), max(seen)))

    for (features, labels), n in zip(tables, n_rows, strict=True):
        share = n / sum(n_rows) if weighting == "rows" else 1 / len(tables)
        bins = [common_bins(features[f], *ranges[f], n_bins) for f in range(n_features)]
        for f in range(n_features):
            for label in range(n_labels):
                y = labels[label]
                told[f][label] += share * (entropy(bins[f]) + entropy(y) - entropy(bins[f], y))
            for g in range(n_features):
                if g != f:
                    joint = entropy(bins[f], bins[g])
                    distance[f][g] += share * (2 * joint - entropy(bins[f]) - entropy(bins[g]))

    r = [max(row) if relevance == "max" else math.fsum(row) / n_labels for row in told]
    u = [math.fsum(row) for row in distance]
    front = fronts(rounded(r), rounded(u))
    crowd = crowding(rounded(r), rounded(u), front)
    score = [front[f] + 1 / (1 + crowd[f]) for f in range(n_features)]
    order = sorted(range(n_features), key=lambda f: (round(score[f], 12), f))
    return {"relevance": r, "apart": u, "front": front, "crowding": crowd, "score": score, "order": order}


def common_bins(column: Sequence[float], low: float, high: float, n_bins: int) -> list[int]:
    """Equal-width bins on [low, high], the last one closed.

    >>> common_bins([0, 1, 3], 0, 3, 3), common_bins([2, 2], 2, 2, 3)
    ([0, 1, 2], [0, 0])
    """
    if low == high:
        return [0] * len(column)
    return [min(math.floor((v - low) / (high - low) * n_bins), n_bins - 1) for v in column]


def fronts(r: Sequence[float], u: Sequence[float]) -> list[int]:
    """The front of everyone, 1 for those nobody dominates, 2 for those nobody dominates once these are gone, ...

    >>> fronts([3, 1, 2, 1], [1, 3, 1, 1])
    [1, 1, 2, 3]
    """

    def dominates(f: int, g: int) -> bool:
        return r[f] >= r[g] and u[f] >= u[g] and (r[f] > r[g] or u[f] > u[g])

    front = [0] * len(r)
    left = list(range(len(r)))
    number = 0
    while left:
        number += 1
        free = [f for f in left if not any(dominates(g, f) for g in left)]
        for f in free:
            front[f] = number
        left = [f for f in left if f not in free]
    return front


def crowding(r: Sequence[float], u: Sequence[float], front: Sequence[int]) -> list[float]:
    """The gap between the two neighbors on the own front, in shares of the front's range, over both objectives.

    >>> crowding([0, 1, 4], [4, 1, 0], [1, 1, 1])
    [inf, 2.0, inf]
    """
    crowd = [0.0] * len(r)
    for number in set(front):
        members = [f for f in range(len(r)) if front[f] == number]
        for value in (r, u):
            line = sorted(members, key=lambda f: (value[f], f))
            width = value[line[-1]] - value[line[0]]
            crowd[line[0]] = crowd[line[-1]] = math.inf
            for before, f, after in zip(line, line[1:], line[2:], strict=False):
                crowd[f] += (value[after] - value[before]) / width if width > 0 else 0.0
    return crowd

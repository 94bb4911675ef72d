"""D2F: relevance to every label, less what is shared with every feature already chosen."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import binned, columns, entropy
from .rounding import best


def order(X: ArrayLike, Y: ArrayLike, n_bins: int = 2) -> list[int]:
    """Features, best first: greedy on J(f) = sum_l I(f; y_l) - sum_{s in S} sum_l I(f; s; y_l)."""
    features = [binned(column, n_bins) for column in columns(X)]
    labels = columns(Y)
    chosen: list[int] = []
    while len(chosen) < len(features):
        score = {f: _score(f, chosen, features, labels) for f in range(len(features)) if f not in chosen}
        chosen.append(best(list(score), score))
    return chosen


def _score(f: int, chosen: list[int], features: Sequence[Sequence[float]], labels: Sequence[Sequence[float]]) -> float:
    relevance = sum(information(features[f], y) for y in labels)
    return relevance - sum(interaction(features[f], features[s], y) for s in chosen for y in labels)


def information(a: Sequence[float], b: Sequence[float]) -> float:
    """I(a; b).

    >>> information([0, 0, 1, 1], [0, 0, 1, 1]), information([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 0.0)
    """
    return entropy(a) + entropy(b) - entropy(a, b)


def interaction(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    """I(a; b; c), the co-information; negative for the exclusive or.

    >>> interaction([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    -1.0
    """
    pairs = entropy(a, b) + entropy(a, c) + entropy(b, c)
    return entropy(a) + entropy(b) + entropy(c) - pairs + entropy(a, b, c)

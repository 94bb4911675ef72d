"""FIMF: relevance to every label, less what is shared with every pair of the most uncertain labels."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import binned, columns, entropy
from .rounding import descending


def order(X: ArrayLike, Y: ArrayLike, n_bins: int = 2, n_labels: int = 10) -> list[int]:
    """Features by J(f) = sum_l I(f; y_l) - sum_{a < b in Q} I(f; y_a; y_b), largest first."""
    return descending(scores(X, Y, n_bins, n_labels))


def scores(X: ArrayLike, Y: ArrayLike, n_bins: int = 2, n_labels: int = 10) -> list[float]:
    """J(f) with nothing dropped; Q are the n_labels labels of largest entropy, ties to the smaller index."""
    labels = columns(Y)
    uncertain = sorted(descending([entropy(y) for y in labels])[:n_labels])
    result = []
    for column in columns(X):
        f = binned(column, n_bins)
        relevance = sum(entropy(f) + entropy(y) - entropy(f, y) for y in labels)
        shared = 0.0
        for a in uncertain:
            for b in uncertain:
                if a < b:
                    shared += _interaction(f, labels[a], labels[b])
        result.append(relevance - shared)
    return result


def _interaction(f: Sequence[float], a: Sequence[float], b: Sequence[float]) -> float:
    pairs = entropy(f, a) + entropy(f, b) + entropy(a, b)
    return entropy(f) + entropy(a) + entropy(b) - pairs + entropy(f, a, b)

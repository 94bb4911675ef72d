"""RFNMIFS: ReliefF weights drop features, then a greedy search on neighborhood mutual information."""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .neighborhoods import (
    Rows,
    all_neighbors,
    carries_all,
    hits,
    label_rows,
    margin_radius,
    misses,
    nearest,
    scaled_rows,
)
from .rounding import best, descending, rounded


def order(X: ArrayLike, Y: ArrayLike, n_neighbors: int = 5, gain: float = 1e-4) -> list[int]:
    """Features in the order they were picked, then the rest by ReliefF weight."""
    rows, labels = scaled_rows(X), label_rows(Y)
    weights = relief_weights(rows, labels, n_neighbors)
    kept = [f for f, weight in enumerate(rounded(weights)) if weight > 0]
    radius, alike = margin_radius(rows, labels), alike_rows(labels)
    chosen: list[int] = []
    near = all_neighbors(rows, chosen, radius)
    now = information(near, alike)
    while len(chosen) < len(kept):
        left = [f for f in kept if f not in chosen]
        then = {f: information(all_neighbors(rows, [*chosen, f], radius, near), alike) for f in left}
        f = best(list(then), then, weights)
        if then[f] - now <= gain + 1e-10:
            break
        chosen.append(f)
        near, now = all_neighbors(rows, chosen, radius, near), then[f]
    return chosen + [f for f in descending(weights) if f not in chosen]


def relief_weights(rows: Rows, labels: Sequence[Sequence[int]], n_neighbors: int = 5) -> list[float]:
    """w_f: over all rows and labels, mean difference to the nearest misses less that to the nearest hits.

    Hits count by the Jaccard similarity of the label rows, misses by what it lacks to 1.
    """
    n_samples, n_features, n_labels = len(rows), len(rows[0]), len(labels[0])
    weights = [0.0] * n_features
    for i in range(n_samples):
        for label in range(n_labels):
            hit = nearest(rows, i, hits(labels, i, label))[:n_neighbors]
            miss = nearest(rows, i, misses(labels, i, label))[:n_neighbors]
            alike = [jaccard(labels[i], labels[j]) for j in hit]
            unlike = [1 - jaccard(labels[i], labels[j]) for j in miss]
            if not hit or not miss or sum(alike) == 0:
                continue
            for f in range(n_features):
                to_miss = sum(u * abs(rows[i][f] - rows[j][f]) for u, j in zip(unlike, miss, strict=True))
                to_hit = sum(a * abs(rows[i][f] - rows[j][f]) for a, j in zip(alike, hit, strict=True))
                weights[f] += to_miss / sum(unlike) - to_hit / sum(alike)
    return [weight / (n_samples * n_labels) for weight in weights]


def jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    """Labels of both rows, over labels of either; 1 if there are none.

    >>> jaccard([1, 1, 0], [0, 1, 1]), jaccard([0, 0], [0, 0])
    (0.3333333333333333, 1.0)
    """
    both = sum(1 for u, v in zip(a, b, strict=True) if u == 1 and v == 1)
    either = sum(1 for u, v in zip(a, b, strict=True) if u == 1 or v == 1)
    return both / either if either else 1.0


def alike_rows(labels: Sequence[Sequence[int]]) -> list[set[int]]:
    """D(x_i): the rows that carry every label of row i.

    >>> alike_rows([[1, 0], [1, 1], [0, 0]])
    [{0, 1}, {1}, {0, 1, 2}]
    """
    return [{j for j, other in enumerate(labels) if carries_all(own, other)} for own in labels]


def information(near: Sequence[Sequence[int]], alike: Sequence[set[int]]) -> float:
    """NMI(B; Y) = -(1/n) sum_i log2(|n_B(x_i)| |D(x_i)| / (n |n_B(x_i) and D(x_i)|)), near and alike per row."""
    n_samples = len(near)
    total = 0.0
    for own, carrying in zip(near, alike, strict=True):
        both = [j for j in own if j in carrying]
        total -= math.log2(len(own) * len(carrying) / (n_samples * len(both)))
    return total / n_samples

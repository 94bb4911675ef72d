"""MLFSNRS: Fisher scores name the candidates, then a greedy search on the dependency of neighborhood rough sets."""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import entropy
from .neighborhoods import Rows, all_neighbors, label_rows, margin_radius, scaled_rows
from .rounding import best, descending


def order(X: ArrayLike, Y: ArrayLike, keep: float = 1.0, gain: float = 0.0) -> list[int]:
    """Features in the order they were picked, then the rest by Fisher score."""
    rows, labels = scaled_rows(X), label_rows(Y)
    n_features = len(rows[0])
    fisher = [math.log1p(score) for score in fisher_scores(rows, labels)]
    by_fisher = descending(fisher)
    candidates = by_fisher[: max(1, math.ceil(keep * n_features - 1e-9))]
    radius = margin_radius(rows, labels)
    chosen: list[int] = []
    near = all_neighbors(rows, chosen, radius)
    now = dependency(near, labels)
    while len(chosen) < len(candidates):
        left = [f for f in candidates if f not in chosen]
        then = {f: dependency(all_neighbors(rows, [*chosen, f], radius, near), labels) for f in left}
        f = best(list(then), then, fisher)
        if then[f] - now <= gain + 1e-10:
            break
        chosen.append(f)
        near, now = all_neighbors(rows, chosen, radius, near), then[f]
    return chosen + [f for f in by_fisher if f not in chosen]


def fisher_scores(rows: Rows, labels: Sequence[Sequence[int]]) -> list[float]:
    """FS(f) = sum_l omega_l FS_l(f), omega_l the label's share of the information that labels have of each other."""
    n_features, n_labels = len(rows[0]), len(labels[0])
    by_label = [[row[t] for row in labels] for t in range(n_labels)]
    shared = [sum(_information(a, b) for b in by_label) for a in by_label]
    scores = []
    for f in range(n_features):
        feature = [row[f] for row in rows]
        score = 0.0
        for t in range(n_labels):
            if sum(shared) > 0:
                score += shared[t] / sum(shared) * _fisher(feature, by_label[t])
        scores.append(score)
    return scores


def _fisher(feature: Sequence[float], label: Sequence[int]) -> float:
    """Spread of the two class means over the spread within the classes; 0 for a constant label."""
    positive = [x for x, y in zip(feature, label, strict=True) if y == 1]
    negative = [x for x, y in zip(feature, label, strict=True) if y == 0]
    if not positive or not negative:
        return 0.0
    mean = sum(feature) / len(feature)
    between = within = 0.0
    for part in (positive, negative):
        own_mean = sum(part) / len(part)
        between += len(part) * (own_mean - mean) ** 2
        within += sum((x - own_mean) ** 2 for x in part)
    return between / (within + 1e-9)


def _information(a: Sequence[int], b: Sequence[int]) -> float:
    return entropy(a) + entropy(b) - entropy(a, b)


def dependency(near: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]) -> float:
    """gamma_B: share of pairs (row, label) where all neighbors of the row have the row's value of the label."""
    n_samples, n_labels = len(labels), len(labels[0])
    pure = 0
    for i in range(n_samples):
        for t in range(n_labels):
            if all(labels[j][t] == labels[i][t] for j in near[i]):
                pure += 1
    return pure / (n_samples * n_labels)

"""MLNRS: a greedy search on the share of rows whose neighbors all carry the row's labels."""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import pearson
from .neighborhoods import Rows, all_neighbors, carries_all, label_rows, scaled_rows
from .rounding import best, descending


def order(X: ArrayLike, Y: ArrayLike, radius: float = 0.15, gain: float = 1e-3) -> list[int]:
    """Features in the order they were picked, then the rest by what each is worth alone.

    The search stops where the gain of gamma is too small; its soft version only breaks ties.
    """
    rows, labels = scaled_rows(X), label_rows(Y)
    n_features = len(rows[0])
    correlation = correlations(rows, labels)
    radii = [radius] * len(rows)
    chosen: list[int] = []
    near = all_neighbors(rows, chosen, radii)
    now_hard, _ = gamma(near, labels)
    while len(chosen) < n_features:
        left = [f for f in range(n_features) if f not in chosen]
        then = {f: gamma(all_neighbors(rows, [*chosen, f], radii, near), labels) for f in left}
        hard = {f: pair[0] for f, pair in then.items()}
        soft = {f: pair[1] for f, pair in then.items()}
        f = best(list(then), hard, soft, correlation)
        if hard[f] - now_hard < gain - 1e-10:
            break
        chosen.append(f)
        near, now_hard = all_neighbors(rows, chosen, radii, near), hard[f]
    alone = [gamma(all_neighbors(rows, [f], radii), labels) for f in range(n_features)]
    rest = descending([pair[0] for pair in alone], [pair[1] for pair in alone], correlation)
    return chosen + [f for f in rest if f not in chosen]


def gamma(near: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Share of rows with consistent neighbors only, and mean share of consistent neighbors."""
    n_samples = len(labels)
    hard, soft = 0, 0.0
    for i in range(n_samples):
        consistent = [j for j in near[i] if carries_all(labels[i], labels[j])]
        hard += len(consistent) == len(near[i])
        soft += len(consistent) / len(near[i])
    return hard / n_samples, soft / n_samples


def correlations(rows: Rows, labels: Sequence[Sequence[int]]) -> list[float]:
    """sum_l |Pearson(f, y_l)| per feature; 0 where one of the two is constant."""
    result = []
    for f in range(len(rows[0])):
        feature = [row[f] for row in rows]
        values = [abs(pearson(feature, [row[t] for row in labels])) for t in range(len(labels[0]))]
        result.append(sum(v for v in values if not math.isnan(v)))
    return result

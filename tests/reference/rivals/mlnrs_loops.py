"""MLNRS: a greedy search on the share of rows whose neighbors all carry the row's labels."""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import pearson
from .neighborhoods import Rows, carries_all, label_rows, neighbors, scaled_rows
from .rounding import best, descending


def order(X: ArrayLike, Y: ArrayLike, radius: float = 0.15, gain: float = 1e-3) -> list[int]:
    """Features in the order they were picked, then the rest by what each is worth alone.

    The search stops where the gain of gamma is too small; its soft version only breaks ties.
    """
    rows, labels = scaled_rows(X), label_rows(Y)
    n_features = len(rows[0])
    correlation = correlations(rows, labels)
    chosen: list[int] = []
    now_hard, _ = gamma(rows, labels, radius, chosen)
    while len(chosen) < n_features:
        then = {f: gamma(rows, labels, radius, [*chosen, f]) for f in range(n_features) if f not in chosen}
        hard = {f: pair[0] for f, pair in then.items()}
        soft = {f: pair[1] for f, pair in then.items()}
        f = best(list(then), hard, soft, correlation)
        if hard[f] - now_hard < gain - 1e-10:
            break
        chosen.append(f)
        now_hard = hard[f]
    alone = [gamma(rows, labels, radius, [f]) for f in range(n_features)]
    rest = descending([pair[0] for pair in alone], [pair[1] for pair in alone], correlation)
    return chosen + [f for f in rest if f not in chosen]


def gamma(rows: Rows, labels: Sequence[Sequence[int]], radius: float, chosen: Sequence[int]) -> tuple[float, float]:
    """Share of rows with consistent neighbors only, and mean share of consistent neighbors."""
    n_samples = len(rows)
    hard, soft = 0, 0.0
    for i in range(n_samples):
        near = neighbors(rows, i, chosen, radius)
        consistent = [j for j in near if carries_all(labels[i], labels[j])]
        hard += len(consistent) == len(near)
        soft += len(consistent) / len(near)
    return hard / n_samples, soft / n_samples


def correlations(rows: Rows, labels: Sequence[Sequence[int]]) -> list[float]:
    """sum_l |Pearson(f, y_l)| per feature; 0 where one of the two is constant."""
    result = []
    for f in range(len(rows[0])):
        feature = [row[f] for row in rows]
        values = [abs(pearson(feature, [row[t] for row in labels])) for t in range(len(labels[0]))]
        result.append(sum(v for v in values if not math.isnan(v)))
    return result

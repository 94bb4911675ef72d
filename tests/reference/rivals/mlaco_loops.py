"""MLACO: ants walk from feature to dissimilar relevant feature, and leave pheromone where they were."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .basics import columns, pearson, scaled
from .rounding import best, descending

LEAST_SIMILARITY = 1e-4


def order(
    X: ArrayLike,
    Y: ArrayLike,
    n_cycles: int = 40,
    n_ants: int = 25,
    decay: float = 0.1,
    beta: float = 1.0,
    random_state: int = 0,
) -> list[int]:
    """Features by their pheromone after the last cycle, largest first."""
    return descending(pheromone(X, Y, n_cycles, n_ants, decay, beta, random_state))


def pheromone(
    X: ArrayLike,
    Y: ArrayLike,
    n_cycles: int = 40,
    n_ants: int = 25,
    decay: float = 0.1,
    beta: float = 1.0,
    random_state: int = 0,
) -> list[float]:
    """A cycle draws a permutation (its head are the starts), then two uniforms per ant and step, used or not."""
    rng = np.random.RandomState(random_state)  # the stream of the fast version
    features, labels = columns(X), columns(Y)
    d = len(features)
    n_ants = min(n_ants, d)
    n_steps = d // 2
    trail = start_pheromone(features, labels)
    relevance = [max(_correlation(f, y) for y in labels) for f in features]
    similarity = [[_similarity(f, g) for g in features] for f in features]
    for _ in range(n_cycles):
        starts = rng.permutation(d)[:n_ants]
        uniforms = rng.random_sample((n_ants, n_steps, 2))
        visits = [0] * d
        for ant in range(n_ants):
            current = int(starts[ant])
            visited = [current]
            for i in range(1, n_steps + 1):
                attraction = [
                    0.0 if f in visited else trail[f] * (1 / similarity[current][f]) ** beta * relevance[f]
                    for f in range(d)
                ]
                explore_below = (1 - i / n_steps) ** 0.7
                coin, wheel = (float(u) for u in uniforms[ant, i - 1])
                current = next_feature(attraction, visited, coin > explore_below, wheel)
                visited.append(current)
                visits[current] += 1
        trail = [(1 - decay) * t for t in trail]
        if sum(visits) > 0:
            trail = [t + v / sum(visits) for t, v in zip(trail, visits, strict=True)]
    return trail


def next_feature(attraction: Sequence[float], visited: Sequence[int], exploit: bool, wheel: float) -> int:
    """Any unvisited feature if none attracts; else the most attractive one, or one by the roulette wheel.

    >>> next_feature([0, 0, 0, 0], [1], True, 0.5), next_feature([1, 3, 0, 0], [2], True, 0.1)
    (2, 1)
    >>> next_feature([1, 3, 0, 0], [2], False, 0.1), next_feature([1, 3, 0, 0], [2], False, 0.25)
    (0, 1)
    """
    unvisited = [f for f in range(len(attraction)) if f not in visited]
    total = 0.0
    for a in attraction:
        total += a
    if total == 0:
        return unvisited[math.floor(wheel * len(unvisited))]
    if exploit:
        return best(unvisited, attraction)
    running = 0.0
    for f, a in enumerate(attraction):
        running += a
        if running > wheel * total:
            return f
    return max(f for f, a in enumerate(attraction) if a > 0)


def start_pheromone(features: Sequence[Sequence[float]], labels: Sequence[Sequence[float]]) -> list[float]:
    """Min-max over the features of the largest absolute cosine with a label; all 0 if it is the same everywhere."""
    return scaled([max(abs(_cosine(f, y)) for y in labels) for f in features])


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.sqrt(math.fsum(u * u for u in a)) * math.sqrt(math.fsum(v * v for v in b))
    return 0.0 if lengths == 0 else round(math.fsum(u * v for u, v in zip(a, b, strict=True)) / lengths, 10)


def _similarity(f: Sequence[float], g: Sequence[float]) -> float:
    return _correlation(f, g) or LEAST_SIMILARITY


def _correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """|Pearson| to 10 decimals; 0 where a column is constant."""
    value = abs(pearson(a, b))
    return 0.0 if math.isnan(value) else round(value, 10)

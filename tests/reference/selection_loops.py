"""The whole selection, to the letter: global block-diagonal relation matrices, CJE - CMI, the exact PageRank.

Nothing here is a message: the rows of all clients lie in one place, which no fast path may assume.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import fuzzy_loops as loops

Float = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Selection:
    """What a selection says of each feature; `distance` is 0 in the rows and columns of no vertex."""

    scores: Float
    order: list[int]
    relevance: Float
    radius: Float
    distance: Float


def select(
    clients: Mapping[str, ArrayLike],
    S: ArrayLike,
    Y: ArrayLike,
    *,
    lam: float = 1.2,
    n_neighbors: int = 3,
    damping: float = 0.85,
    relation: str = "distance",
    irrelevant: str = "least",
    decisions: str = "crisp",
    ranges: str | Sequence[Range] = "federated",
    spread: str = "pooled",
    aggregation: str = "blocks",
    missing: str = "error",
    constant: str = "last",
    nominal: Collection[int] = (),
) -> Selection:
    """Rank the features of unlabeled clients and a labeled server, `S` (s, d) and `Y` (s, L)."""
    _check("spread", spread, ("pooled", "mean"))
    _check("aggregation", aggregation, ("blocks", "mean", "weighted"))
    _check("missing", missing, ("error", "unrelated"))
    _check("constant", constant, ("last", "keep"))
    _check("decisions", decisions, ("crisp", "soft"))
    sites = [np.asarray(rows, dtype=np.float64) for rows in clients.values()]
    server = np.asarray(S, dtype=np.float64)
    n_features = server.shape[1]
    if missing == "error" and any(np.isnan(rows).any() for rows in [*sites, server]):
        raise ValueError("missing='error', and there are missing values.")

    # 0. ranges
    *sites, server = scaled_sites(sites, server, ranges, nominal)

    # 1. spread
    pooled = [deviation([v for rows in sites for v in rows[:, p]]) for p in range(n_features)]
    radius = np.zeros(n_features)
    for p in range(n_features):
        if p not in nominal:
            together = pooled[p] if spread == "pooled" else mean_deviation([rows[:, p] for rows in sites])
            radius[p] = together / lam
    left_out = [p for p in range(n_features) if constant == "last" and pooled[p] == 0]
    vertices = [p for p in range(n_features) if p not in left_out]
    for p in left_out:
        radius[p] = 0.0

    # 2. relations, 3. uncertainty, 4. correlation distance
    if aggregation == "blocks":
        relations = []
        for p in vertices:
            relations.append(global_relation([rows[:, p] for rows in sites], radius[p], relation, p in nominal))
        between = loops.correlation_distance(relations)
    else:
        between = np.zeros((len(vertices), len(vertices)))
        for rows in sites:
            own = [loops.relation(rows[:, p], radius[p], relation, p in nominal) for p in vertices]
            share = 1 / len(sites) if aggregation == "mean" else len(rows) / sum(len(other) for other in sites)
            between = between + share * loops.correlation_distance(own)
    distance = np.zeros((n_features, n_features))
    for a, p in enumerate(vertices):
        for b, q in enumerate(vertices):
            distance[p, q] = between[a, b]

    # 5. relevance
    labels = np.asarray(Y, dtype=np.float64)
    if decisions == "soft":
        own = [loops.relation(server[:, p], radius[p], relation, p in nominal) for p in range(n_features)]
        labels = loops.soft_decisions(own, labels)
    relevance = loops.dependency(server, labels, radius, n_neighbors, relation, irrelevant, nominal)
    for p in left_out:
        relevance[p] = 0.0

    # 6. weighted PageRank on the vertices
    scores = np.zeros(n_features)
    solution = loops.pagerank_solution(distance[np.ix_(vertices, vertices)], relevance[vertices], damping)
    for a, p in enumerate(vertices):
        scores[p] = solution[a]
    return Selection(scores, loops.order(scores, last=left_out), relevance, radius, distance)


def scaled_sites(
    sites: Sequence[Float], server: Float, ranges: str | Sequence[Range], nominal: Collection[int]
) -> list[Float]:
    """Step 0: every site's rows in [0, 1], the server's last; nominal features stay as they are."""
    everyone = [*sites, server]
    scaled = [rows.copy() for rows in everyone]
    for p in range(server.shape[1]):
        if p in nominal:
            continue
        for rows, target in zip(everyone, scaled, strict=True):
            if isinstance(ranges, str):
                _check("ranges", ranges, ("federated", "local"))
                seen = everyone if ranges == "federated" else [rows]
                low, high = present_range([v for part in seen for v in part[:, p]])
            else:
                low, high = ranges[p]
            for i in range(len(rows)):
                target[i, p] = scaled_value(float(rows[i, p]), low, high)
    return scaled


def scaled_value(value: float, low: float, high: float) -> float:
    """(value - low) / (high - low) of the clipped value; 0 if the range is a point; missing stays missing."""
    if math.isnan(value):
        return value
    if low == high:
        return 0.0
    return (min(max(value, low), high) - low) / (high - low)


def present(values: Sequence[float]) -> list[float]:
    """The values that are not missing."""
    return [float(v) for v in values if not math.isnan(v)]


def present_range(values: Sequence[float]) -> Range:
    """Smallest and largest present value; (0, 0) if there is none."""
    there = present(values)
    return (min(there), max(there)) if there else (0.0, 0.0)


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation, n - 1, of the present values; 0 if they are all equal or fewer than two."""
    there = present(values)
    if len(set(there)) < 2:
        return 0.0
    mean = math.fsum(there) / len(there)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in there) / (len(there) - 1))


def mean_deviation(columns: Sequence[Sequence[float]]) -> float:
    """Plain mean of the clients' deviations, over the clients that have one (two present values or more)."""
    deviations = [deviation(column) for column in columns if len(present(column)) >= 2]
    return sum(deviations) / len(deviations) if deviations else 0.0


def global_relation(columns: Sequence[Float], radius: float, kind: str, nominal: bool) -> Float:
    """Eq. 3 within each client; 0 between rows of different clients, which nobody can compare."""
    n_samples = sum(len(column) for column in columns)
    R = np.zeros((n_samples, n_samples))
    start = 0
    for column in columns:
        own = loops.relation(column, radius, kind, nominal)
        for i in range(len(column)):
            for j in range(len(column)):
                R[start + i, start + j] = own[i, j]
        start += len(column)
    return R


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}; got {value!r}.")

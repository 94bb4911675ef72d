"""MGFS: PageRank of the features in a graph whose edges are distances between their correlations with the labels."""

import math

from numpy.typing import ArrayLike

from .basics import columns, distance, is_constant, pearson
from .rounding import descending

DAMPING, TOL, MAX_SWEEPS = 0.85, 1e-4, 100


def order(X: ArrayLike, Y: ArrayLike, constant: str = "last") -> list[int]:
    """Features by PageRank, largest first.

    Constant features: "last" leaves them out of the graph, behind all others in index order; "published" gives
    them correlation distance 0 to every label.
    """
    if constant not in ("last", "published"):
        raise ValueError(f"constant must be 'last' or 'published'; got {constant!r}.")
    features, labels = columns(X), columns(Y)
    left_out = [p for p, column in enumerate(features) if constant == "last" and is_constant(column)]
    nodes = [p for p in range(len(features)) if p not in left_out]
    C = []
    for p in nodes:
        row = [pearson(features[p], y) for y in labels]
        C.append([0.0 if math.isnan(r) else 1 - r for r in row])
    edges = [[distance(a, b) for b in C] for a in C]
    return [nodes[a] for a in descending(pagerank(edges))] + left_out if nodes else left_out


def pagerank(A: list[list[float]]) -> list[float]:
    """c <- 0.85 A (c / deg) + 0.85 / d * sum of c where deg = 0 + 0.15 / d, until no entry moves by more than TOL."""
    d = len(A)
    degree = [sum(A[i][j] for i in range(d)) for j in range(d)]
    c = [1 / d] * d
    for _ in range(MAX_SWEEPS):
        stuck = sum(c[j] for j in range(d) if degree[j] == 0)
        new = []
        for i in range(d):
            flow = sum(A[i][j] * c[j] / degree[j] for j in range(d) if degree[j] != 0)
            new.append(DAMPING * flow + DAMPING / d * stuck + (1 - DAMPING) / d)
        moved = max(abs(new[i] - c[i]) for i in range(d))
        c = new
        if moved <= TOL:
            break
    return c

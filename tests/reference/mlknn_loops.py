"""ML-kNN from its definition, in loops over scalars; probabilities are exact fractions.

M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning", Pattern Recognition 40(7), 2007.
"""

from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[float]


def squared_distance(a: Row, b: Row) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (float(x) - float(y)) * (float(x) - float(y))
    return total


def nearest(rows: Sequence[Row], k: int, queries: Sequence[Row] | None = None) -> list[list[int]]:
    """Indices of the k nearest rows, ties to the lowest index; without queries, of each row's k nearest others."""
    found = []
    for i, query in enumerate(rows if queries is None else queries):
        pairs = [(squared_distance(query, row), j) for j, row in enumerate(rows) if queries is not None or j != i]
        found.append([j for _, j in sorted(pairs)[:k]])
    return found


def posteriors(
    X: Sequence[Row], Y: Sequence[Sequence[int]], queries: Sequence[Row], k: int, smoothing: float = 1.0
) -> list[list[Fraction]]:
    """P(label on | how many of the k nearest training rows have it), for every query and label."""
    n, s = len(X), Fraction(smoothing)
    training_neighbors, query_neighbors = nearest(X, k), nearest(X, k, queries)
    result: list[list[Fraction]] = [[] for _ in queries]
    for label in range(len(Y[0])):
        prior1 = (s + sum(int(y[label]) for y in Y)) / (2 * s + n)
        prior0 = 1 - prior1
        c1, c0 = [0] * (k + 1), [0] * (k + 1)
        for i in range(n):
            count = sum(int(Y[j][label]) for j in training_neighbors[i])
            if Y[i][label]:
                c1[count] += 1
            else:
                c0[count] += 1
        for t in range(len(queries)):
            count = sum(int(Y[j][label]) for j in query_neighbors[t])
            p1 = (s + c1[count]) / (s * (k + 1) + sum(c1))
            p0 = (s + c0[count]) / (s * (k + 1) + sum(c0))
            result[t].append(prior1 * p1 / (prior1 * p1 + prior0 * p0))
    return result


def predictions(probabilities: list[list[Fraction]]) -> list[list[int]]:
    """A label is on from one half."""
    return [[int(p >= Fraction(1, 2)) for p in row] for row in probabilities]

"""RLSR: regression on features rescaled by weights of sum one; the labels of the unlabeled rows are learned as well."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .row_graph_loops import Float, at_rest, centering, lengths, scaled_rows, starting_labels


def rlsr_loops(
    X: ArrayLike,
    Y: ArrayLike,
    labeled: ArrayLike,
    *,
    gamma: float = 1.0,
    soft_labels: str = "simplex",
    n_inner: int = 10,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> tuple[Float, list[float]]:
    """theta of the lowest objective, and the objective after every outer iteration."""
    X = scaled_rows(X)
    soft, unlabeled = starting_labels(Y, labeled)
    n, d = X.shape
    n_labels = soft.shape[1]
    soft[unlabeled] = 1 / n_labels
    if soft_labels == "normalized":
        for i in np.flatnonzero(~unlabeled):
            if soft[i].sum() > 0:
                soft[i] = soft[i] / soft[i].sum()
    H = centering(n)
    ones = np.ones((n, 1))

    theta = [1 / d] * d
    objective: list[float] = []
    lowest, theta_of_lowest = math.inf, theta
    for _ in range(max_iter):
        inner: list[float] = []
        for _ in range(n_inner):
            left = X.T @ H @ X + np.diag([gamma / theta_j for theta_j in theta])
            W = np.linalg.solve(left, X.T @ H @ soft)
            longer = [length + 1e-5 for length in lengths(W)]
            theta = [v / math.fsum(longer) for v in longer]
            inner.append(float(((H @ X @ W - H @ soft) ** 2).sum()) + gamma * math.fsum(lengths(W)) ** 2)
            if at_rest(inner, 1e-7):
                break
        b = (soft.T @ ones - W.T @ X.T @ ones) / n
        fitted = X @ W + ones @ b.T
        for i in np.flatnonzero(unlabeled):
            row = [float(v) for v in fitted[i]]
            soft[i] = [min(max(v, 0.0), 1.0) for v in row] if soft_labels == "box" else onto_simplex(row)
        objective.append(float(((fitted - soft) ** 2).sum()) + gamma * math.fsum(lengths(W)) ** 2)
        if objective[-1] < lowest:
            lowest, theta_of_lowest = objective[-1], theta
        if at_rest(objective, tol):
            break
    return np.array(theta_of_lowest), objective


def onto_simplex(row: Sequence[float]) -> list[float]:
    """The nearest point with no negative entry and the sum 1: take the same from all, leave out those below 0, again.

    >>> onto_simplex([0.75, 0.25]), onto_simplex([2.0, 0.0, 0.5]), onto_simplex([0.5, 1.0, -3.0])
    ([0.75, 0.25], [1.0, 0.0, 0.0], [0.25, 0.75, 0.0])
    """
    inside = list(range(len(row)))
    while True:
        excess = (math.fsum(row[c] for c in inside) - 1) / len(inside)
        positive = [c for c in inside if row[c] > excess]
        if positive == inside:
            return [row[c] - excess if c in inside else 0.0 for c in range(len(row))]
        inside = positive

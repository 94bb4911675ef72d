"""SFSS: soft labels, smooth over a graph of the rows, and a row-sparse linear map to them, found together."""

import numpy as np
from numpy.typing import ArrayLike

from .row_graph_loops import (
    Float,
    at_rest,
    binary_laplacian,
    centering,
    reweighted,
    scaled_rows,
    smoothed,
    squared_distances,
    starting_labels,
)


def sfss_loops(
    X: ArrayLike,
    Y: ArrayLike,
    labeled: ArrayLike,
    *,
    mu: float = 1.0,
    gamma: float = 1.0,
    n_neighbors: int = 15,
    unlabeled_weight: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 50,
) -> tuple[Float, list[float]]:
    """W and the objective after every iteration.

    With W and b gone, F pays tr(F' B F), B = Lap + U + mu H - mu^2 H X G^-1 X' H, G = mu X' H X + gamma D. The labeled
    rows of F are given, so those of the unlabeled rows solve B_uu F_u = -B_ul Y_l.
    """
    X = scaled_rows(X)
    F, unlabeled = starting_labels(Y, labeled)
    n, d = X.shape
    u, known = np.flatnonzero(unlabeled), np.flatnonzero(~unlabeled)
    H = centering(n)
    Lap = binary_laplacian(squared_distances(X), n_neighbors)
    U = np.diag([unlabeled_weight if free else 0.0 for free in unlabeled])
    ones = np.ones((n, 1))

    t = [1.0] * d
    objective: list[float] = []
    for _ in range(max_iter):
        D = np.diag([1 / t_j for t_j in t])
        G = mu * X.T @ H @ X + gamma * D
        B = Lap + U + mu * H - mu**2 * H @ X @ np.linalg.inv(G) @ X.T @ H
        F[u] = np.linalg.solve(B[np.ix_(u, u)], -B[np.ix_(u, known)] @ F[known])
        W = mu * np.linalg.solve(G, X.T @ H @ F)
        b = (F.T @ ones - W.T @ X.T @ ones) / n
        objective.append(
            float(np.trace(F.T @ Lap @ F))
            + unlabeled_weight * float((F[u] ** 2).sum())
            + mu * float(((X @ W + ones @ b.T - F) ** 2).sum())
            + gamma * smoothed(W)
        )
        t = reweighted(W)
        if at_rest(objective, tol):
            break
    return W, objective

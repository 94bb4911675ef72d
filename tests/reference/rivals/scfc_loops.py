"""SCFC: a row-sparse linear map to soft labels that stay alike where the rows are probable neighbors."""

import numpy as np
from numpy.typing import ArrayLike

from .row_graph_loops import (
    Float,
    adaptive_laplacian,
    at_rest,
    centering,
    reweighted,
    scaled_rows,
    smoothed,
    spread_labels,
    squared_distances,
    starting_labels,
)


def scfc_loops(
    X: ArrayLike,
    Y: ArrayLike,
    labeled: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    n_neighbors: int = 5,
    refresh: bool = False,
    tol: float = 1e-4,
    max_iter: int = 50,
) -> tuple[Float, list[float]]:
    """W and the objective after every iteration; a refreshed graph first counts in the iteration after it."""
    X = scaled_rows(X)
    F, unlabeled = starting_labels(Y, labeled)
    n, d = X.shape
    H = centering(n)
    Lap = adaptive_laplacian(squared_distances(X), n_neighbors)
    ones = np.ones((n, 1))

    t = [1.0] * d
    objective: list[float] = []
    for _ in range(max_iter):
        W = np.linalg.solve(X.T @ H @ X + np.diag([beta / t_j for t_j in t]), X.T @ H @ F)
        b = (F.T @ ones - W.T @ X.T @ ones) / n
        fitted = X @ W + ones @ b.T
        spread_labels(F, fitted, Lap, alpha, unlabeled)
        objective.append(float(((fitted - F) ** 2).sum()) + alpha * float(np.trace(F.T @ Lap @ F)) + beta * smoothed(W))
        t = reweighted(W)
        if at_rest(objective, tol):
            break
        if refresh:
            # ||W'x_i - W'x_j||^2 + ||F_i - F_j||^2
            Lap = adaptive_laplacian(squared_distances(np.column_stack([X @ W, F])), n_neighbors)
    return W, objective

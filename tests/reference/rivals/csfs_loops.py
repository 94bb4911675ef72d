"""CSFS: a row-sparse linear map to labels that are known on some rows and anything in [0, 1] on the others."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .row_graph_loops import Float, at_rest, centering, scaled_rows, starting_labels


def csfs_loops(
    X: ArrayLike,
    Y: ArrayLike,
    labeled: ArrayLike,
    *,
    alpha: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 100,
) -> tuple[Float, list[float]]:
    """W and the objective after every iteration; the penalty 2 alpha sum_j sqrt(||w_j||^2 + 1e-12) is reweighted."""
    X = scaled_rows(X)
    F, unlabeled = starting_labels(Y, labeled)
    n, d = X.shape
    H = centering(n)
    ones = np.ones((n, 1))

    t = [1.0] * d
    objective: list[float] = []
    for _ in range(max_iter):
        W = _solve(X, H, F, [alpha / t_j for t_j in t])
        b = (F.T @ ones - W.T @ X.T @ ones) / n
        fitted = X @ W + ones @ b.T
        for i in range(n):
            if unlabeled[i]:
                F[i] = [min(max(float(v), 0.0), 1.0) for v in fitted[i]]
        t = [math.sqrt(math.fsum(float(v) ** 2 for v in row) + 1e-12) for row in W]
        objective.append(float(((fitted - F) ** 2).sum()) + 2 * alpha * math.fsum(t))
        if at_rest(objective, tol):
            break
    return W, objective


def _solve(X: Float, H: Float, F: Float, penalty: list[float]) -> Float:
    """W of (X' H X + diag(penalty)) W = X' H F."""
    return np.linalg.solve(X.T @ H @ X + np.diag(penalty), X.T @ H @ F)

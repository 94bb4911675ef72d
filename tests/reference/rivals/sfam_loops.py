"""SFAM: a row-sparse linear map to soft labels on a graph, whose images also rebuild one another."""

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
    spread_labels,
    squared_distances,
    starting_labels,
)


def sfam_loops(
    X: ArrayLike,
    Y: ArrayLike,
    labeled: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 1.0,
    rho: float = 1.0,
    n_neighbors: int = 5,
    tol: float = 1e-4,
    max_iter: int = 50,
) -> tuple[Float, list[float]]:
    """W and the objective after every iteration. The rows that rebuild one another are the centered ones."""
    X = scaled_rows(X)
    n, d = X.shape
    Lap = binary_laplacian(squared_distances(X), n_neighbors)
    X = centering(n) @ X
    F, unlabeled = starting_labels(Y, labeled)

    W = np.linalg.solve(X.T @ X + gamma * np.eye(d), X.T @ F)
    t = reweighted(W)
    objective: list[float] = []
    for _ in range(max_iter):
        S = self_representation(X @ W, rho)
        M = (np.eye(n) - S).T @ (np.eye(n) - S)
        left = X.T @ X + beta * X.T @ M @ X + np.diag([gamma / t_j for t_j in t])
        W = np.linalg.solve(left, X.T @ F)
        fitted = X @ W + F.mean(axis=0)
        spread_labels(F, fitted, Lap, alpha, unlabeled)
        objective.append(
            float(((fitted - F) ** 2).sum())
            + alpha * float(np.trace(F.T @ Lap @ F))
            + beta * (float(((X @ W - S @ X @ W) ** 2).sum()) + rho * float((S**2).sum()))
            + gamma * smoothed(W)
        )
        t = reweighted(W)
        if at_rest(objective, tol):
            break
    return W, objective


def self_representation(Z: Float, rho: float) -> Float:
    """S = Z Z' (Z Z' + rho I)^-1 with its diagonal set to 0.

    >>> self_representation(np.array([[1.0], [1.0]]), 2.0).round(12).tolist()
    [[0.0, 0.25], [0.25, 0.0]]
    """
    K = Z @ Z.T
    S = K @ np.linalg.inv(K + rho * np.eye(len(Z)))
    for i in range(len(Z)):
        S[i, i] = 0.0
    return S

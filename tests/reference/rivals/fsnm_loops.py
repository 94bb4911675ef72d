"""FSNM: a linear map to the labels whose residuals and weights both pay the l2,1 norm, reweighted until it rests."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .rounding import descending

Float = NDArray[np.float64]


def order(
    X: ArrayLike,
    Y: ArrayLike,
    gamma: float = 1.0,
    fit_intercept: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    eps: float = 1e-10,
) -> list[int]:
    """Features by ||w_j||, largest first."""
    return descending(weight_norms(X, Y, gamma, fit_intercept, tol, max_iter, eps))


def weight_norms(
    X: ArrayLike,
    Y: ArrayLike,
    gamma: float = 1.0,
    fit_intercept: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    eps: float = 1e-10,
) -> list[float]:
    """||w_j|| of every feature after the objective moved by less than tol, or after max_iter solves.

    Open in the description, chosen here: eps, and the intercept as a column of ones that pays like any feature.
    """
    X, Y = np.array(X, dtype=np.float64), np.array(Y, dtype=np.float64)
    n_features = X.shape[1]
    if fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    row_weight = [1.0] * len(X)
    feature_weight = [1.0] * X.shape[1]
    before = math.inf
    norms: list[float] = []
    for _ in range(max_iter):
        W = _solve(X, Y, row_weight, feature_weight, gamma)
        residuals = [_norm(row) for row in X @ W - Y]
        norms = [_norm(row) for row in W]
        row_weight = [1 / (2 * r + eps) for r in residuals]
        feature_weight = [1 / (2 * w + eps) for w in norms]
        objective = sum(residuals) + gamma * sum(norms)
        if abs(before - objective) < tol:
            break
        before = objective
    return norms[:n_features]


def _solve(X: Float, Y: Float, row_weight: list[float], feature_weight: list[float], gamma: float) -> Float:
    """W of (X' D1 X + gamma D2) W = X' D1 Y."""
    n_samples, n_features = X.shape
    n_labels = Y.shape[1]
    left = np.zeros((n_features, n_features))
    right = np.zeros((n_features, n_labels))
    for p in range(n_features):
        for q in range(n_features):
            left[p, q] = sum(X[i, p] * row_weight[i] * X[i, q] for i in range(n_samples))
        left[p, p] += gamma * feature_weight[p]
        for t in range(n_labels):
            right[p, t] = sum(X[i, p] * row_weight[i] * Y[i, t] for i in range(n_samples))
    return np.linalg.solve(left, right)


def _norm(row: Float) -> float:
    return math.sqrt(sum(float(v) ** 2 for v in row))

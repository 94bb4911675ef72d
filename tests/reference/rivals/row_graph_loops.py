"""Graphs over the rows of a table, and what the semi-supervised descriptions built on them have in common."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .basics import columns, scaled

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]


def scaled_rows(X: ArrayLike) -> Float:
    """Every column on [0, 1], a constant one at 0; not centered."""
    return np.column_stack([scaled(column) for column in columns(X)])


def centering(n: int) -> Float:
    """H = I - (1/n) 1 1'."""
    return np.eye(n) - np.ones((n, n)) / n


def starting_labels(Y: ArrayLike, labeled: ArrayLike, fill: float = 0.0) -> tuple[Float, Mask]:
    """The given rows where labeled, fill elsewhere; and the mask of those elsewhere."""
    unlabeled = ~np.array(labeled, dtype=bool)
    F = np.array(Y, dtype=np.float64)
    F[unlabeled] = fill
    return F, unlabeled


def squared_distances(rows: ArrayLike) -> list[list[float]]:
    """||row_i - row_j||^2 of every pair.

    >>> squared_distances([[0, 0], [3, 4]])
    [[0.0, 25.0], [25.0, 0.0]]
    """
    rows = [[float(v) for v in row] for row in rows]
    return [[math.fsum((u - v) ** 2 for u, v in zip(a, b, strict=True)) for b in rows] for a in rows]


def by_nearness(distances: Sequence[Sequence[float]], i: int) -> list[int]:
    """The other rows, the nearest to i first, ties to the smaller index.

    >>> by_nearness([[0, 2, 1, 1]], 0)
    [2, 3, 1]
    """
    return sorted((j for j in range(len(distances[i])) if j != i), key=lambda j: (distances[i][j], j))


def laplacian(A: Float) -> Float:
    return np.diag(A.sum(axis=1)) - A


def binary_laplacian(distances: Sequence[Sequence[float]], n_neighbors: int) -> Float:
    """Of A_ij = 1 when one of i and j is among the nearest of the other.

    >>> binary_laplacian([[0, 1, 3], [1, 0, 2], [3, 2, 0]], 1).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """
    n = len(distances)
    A = np.zeros((n, n))
    for i in range(n):
        for j in by_nearness(distances, i)[:n_neighbors]:
            A[i, j] = A[j, i] = 1.0
    return laplacian(A)


def adaptive_laplacian(distances: Sequence[Sequence[float]], n_neighbors: int) -> Float:
    """Of (S + S') / 2, s_ij = (d_{k+1} - d_ij) / (k d_{k+1} - sum of the k nearest d_ih), or 1/k where that is void.

    >>> adaptive_laplacian([[0, 1, 3], [1, 0, 2], [3, 2, 0]], 1).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.5, -0.5], [0.0, -0.5, 0.5]]
    """
    n = len(distances)
    k = min(n_neighbors, n - 1)
    S = np.zeros((n, n))
    for i in range(n):
        near = by_nearness(distances, i)
        for j in near[:k]:
            S[i, j] = 1.0 / k
        if len(near) > k:
            next_one = distances[i][near[k]]
            below = k * next_one - math.fsum(distances[i][h] for h in near[:k])
            if below > 1e-12:
                for j in near[:k]:
                    S[i, j] = (next_one - distances[i][j]) / below
    return laplacian((S + S.T) / 2)


def spread_labels(F: Float, fitted: Float, Lap: Float, alpha: float, unlabeled: Mask) -> None:
    """F_u = clip((I + alpha Lap_uu)^-1 (fitted_u - alpha Lap_ul F_l), 0, 1), in place."""
    u, known = np.flatnonzero(unlabeled), np.flatnonzero(~unlabeled)
    left = np.eye(len(u)) + alpha * Lap[np.ix_(u, u)]
    right = fitted[u] - alpha * Lap[np.ix_(u, known)] @ F[known]
    F[u] = np.clip(np.linalg.solve(left, right), 0.0, 1.0)


def lengths(W: Float) -> list[float]:
    """||w_j|| of every row."""
    return [math.sqrt(math.fsum(float(v) ** 2 for v in row)) for row in W]


def smoothed(W: Float, eps: float = 1e-6) -> float:
    """sum_j phi(||w_j||), phi(l) = l - (eps / 2) log(1 + 2 l / eps)."""
    return math.fsum(length - eps / 2 * math.log1p(2 * length / eps) for length in lengths(W))


def reweighted(W: Float, eps: float = 1e-6) -> list[float]:
    """t_j = 2 ||w_j|| + eps."""
    return [2 * length + eps for length in lengths(W)]


def at_rest(objective: Sequence[float], tol: float) -> bool:
    """Whether the last two differ by less than tol, relative to the earlier one."""
    if len(objective) < 2:
        return False
    before, now = objective[-2:]
    return abs(now - before) / max(abs(before), np.finfo(np.float64).tiny) < tol

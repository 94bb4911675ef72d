"""FSNM against its published way of computing, as scikit-feature does it: dense diagonal matrices of n + d rows."""

import time

import numpy as np

from benchmarks.speed.timing import best_of
from fedsieve.rivals.fsnm import FSNM

N_ROWS, N_FEATURES, N_LABELS = 2000, 100, 10
TARGET = 2.0


def rows() -> list[dict]:
    """Seconds until the objective changes by less than 1e-3; both must rank alike."""
    X, Y = _table()
    start = time.perf_counter()
    peer = _published(X, Y)  # once: it takes long
    peer_seconds = time.perf_counter() - start
    ours = FSNM().fit(X, Y)
    if not np.array_equal(ours.order_[:20], np.argsort(-peer)[:20]):
        raise AssertionError("FSNM and the published way do not choose the same 20 features.")
    seconds = best_of(lambda: FSNM().fit(X, Y), 3)
    return [
        {
            "what": f"FSNM, {N_ROWS} x {N_FEATURES}, {N_LABELS} labels",
            "peer": "RFS as in scikit-feature",
            "peer_s": peer_seconds,
            "ours_s": seconds,
            "ratio": peer_seconds / seconds,
            "target": TARGET,
        }
    ]


def _table() -> tuple[np.ndarray, np.ndarray]:
    """Labels that depend on the first features, the first most."""
    rng = np.random.default_rng(0)
    X = rng.random((N_ROWS, N_FEATURES))
    strength = np.maximum(0, 1 - np.arange(N_FEATURES) / 40)[:, None] * rng.normal(size=(N_FEATURES, N_LABELS))
    scores = (X - 0.5) @ strength + 0.2 * rng.normal(size=(N_ROWS, N_LABELS))
    return X, (scores > 0).astype(np.float64)


def _published(X: np.ndarray, Y: np.ndarray, gamma: float = 1.0) -> np.ndarray:
    """Lengths of the coefficients: U = D⁻¹ Aᵀ (A D⁻¹ Aᵀ)⁻¹ Y with A = [X, gamma I] and U = [W; residuals / gamma]."""
    n_rows, n_features = X.shape
    A = np.hstack([X, gamma * np.eye(n_rows)])
    D = np.eye(n_rows + n_features)
    last = np.inf
    for _ in range(1000):
        inverse = np.linalg.inv(D)
        system = A @ inverse @ A.T + 1e-6 * np.eye(n_rows)
        U = inverse @ A.T @ np.linalg.inv(system) @ Y
        lengths = np.linalg.norm(U, axis=1)
        D = np.diag(0.5 / np.maximum(lengths, 1e-16))
        objective = np.linalg.norm(X @ U[:n_features] - Y, axis=1).sum() + gamma * lengths[:n_features].sum()
        if abs(last - objective) < 1e-3:
            break
        last = objective
    return lengths[:n_features]

"""Knockoffs the slow way: all rows in one place, every definition spelled out."""

import numpy as np
from scipy.linalg import inv, sqrtm
from scipy.optimize import minimize


def exact_knockoffs(rows, s, rng):
    """Huang and Janson's algorithm for Gaussian rows of unknown mean and covariance, on all rows at once.

    `rows` are standardized, `s` the distances; returns knockoffs of all rows.
    """
    n, p = rows.shape
    R = rows.T @ rows / n
    orthonormal, _ = np.linalg.qr(np.column_stack([np.ones(n), rows, rng.standard_normal((n, p))]))
    U = orthonormal[:, 1 + p :] * rng.choice([-1.0, 1.0], p)
    S = np.diag(s)
    values, vectors = np.linalg.eigh(2 * S - S @ np.linalg.inv(R) @ S)
    root = vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T
    return rows - rows @ np.linalg.inv(R) @ S + np.sqrt(n) * U @ root


def whitened(C):
    """Coordinates of one unit: D^-½ P^-½, P being the correlations of columns of which none follows from the others.

    Those that go most with all columns, by their squared covariances, are taken first.
    """
    taken = []
    for column in sorted(range(len(C)), key=lambda c: (-round(sum(C[c] ** 2), 9), c)):
        trial = [*taken, column]
        left = C[column, column]
        if taken:
            left -= C[column, taken] @ np.linalg.lstsq(C[np.ix_(taken, taken)], C[taken, column], rcond=None)[0]
        if left > 1e-9 * max(np.diagonal(C)):
            taken = trial
    taken = sorted(taken)
    basis = np.zeros((len(C), len(taken)))
    deviations = np.sqrt(np.diagonal(C)[taken])
    P = C[np.ix_(taken, taken)] / np.outer(deviations, deviations)
    basis[taken] = np.diag(1 / deviations) @ inv(np.real(sqrtm(P)))
    return basis


def minimal_variance(R):
    """The distances of the least Σ 1/s + tr (2R - S)⁻¹, by a general optimizer over log s."""

    def loss(log_s):
        left = 2 * R - np.diag(np.exp(log_s))
        if np.linalg.eigvalsh(left)[0] <= 0:
            return np.inf
        return np.exp(-log_s).sum() + np.trace(np.linalg.inv(left))

    start = np.full(len(R), np.log(min(1.0, np.linalg.eigvalsh(R)[0])))
    return np.exp(minimize(loss, start, method="Nelder-Mead", options={"maxfev": 2000, "fatol": 1e-6}).x)


def group_lasso(Z, group, n_groups, T, penalty, n_steps=20_000):
    """½ ‖Z B - T‖² / n + penalty Σ_g √(columns of g) ‖B_g‖, by plain proximal gradients, column by column."""
    n = len(Z)
    step = 1 / np.linalg.eigvalsh(Z.T @ Z / n)[-1]
    B = np.zeros((Z.shape[1], T.shape[1]))
    for _ in range(n_steps):
        before, B = B, B - step * Z.T @ (Z @ B - T) / n
        for g in range(n_groups):
            here = [c for c in range(Z.shape[1]) if group[c] == g]
            length = np.sqrt((B[here] ** 2).sum())
            cut = step * penalty * np.sqrt(len(here))
            B[here] = B[here] * (1 - cut / length) if length > cut else 0.0
        if np.abs(B - before).max() < 1e-12:
            break
    return B


def without_those_that_follow(margins, distances, unit):
    """Margins, but 0 of a unit of which no coordinate is apart from its knockoff.

    The distances follow from the covariance of all rows, which exchanging a unit with its knockoff leaves alone:
    margins still only change their sign.
    """
    left = [0.0] * len(margins)
    for s, number in zip(distances, unit, strict=True):
        if s >= 0.02:
            left[number] = margins[number]
    return left


def knockoff_plus(margins, q):
    """The smallest threshold at which the estimated share of false ones is at most q."""
    for t in sorted({abs(w) for w in margins if w != 0}):
        losers = sum(w <= -t for w in margins)
        winners = sum(w >= t for w in margins)
        if (1 + losers) / max(winners, 1) <= q + 1e-12:
            return t
    return np.inf


def derandomized(draws, q, rate):
    """E-values of each unit over draws that select at a rate, and which the e-BH procedure selects at q."""
    n = len(draws[0])
    e = np.zeros(n)
    for margins in draws:
        t = knockoff_plus(margins, rate)
        losers = sum(w <= -t for w in margins)
        for j in range(n):
            e[j] += (n / (1 + losers) if margins[j] >= t else 0.0) / len(draws)
    best = max((k for k in range(1, n + 1) if np.sort(e)[::-1][k - 1] >= n / (q * k) - 1e-9), default=0)
    return e, e >= n / (q * best) - 1e-9 if best else np.zeros(n, dtype=bool)

"""By how much a unit beats its knockoff in telling the labels: a difference of importances in a multi-task lasso path.

Whatever makes importances may look at features, knockoffs and labels as it likes, if exchanging a unit with its
knockoff exchanges their importances and leaves all others. So no folds are drawn, and penalties follow from both.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.sieve.label_model import label_varies

PENALTIES = tuple(float(share) for share in np.geomspace(0.7, 0.07, 6))  # of the smallest that keeps all out
STEPS, SETTLED = 100, 1e-4  # of each penalty, until no coefficient moves more, relative to the largest


def targets(Y: Float) -> Float:
    """Labels that vary, from their means, each divided by the root of its length: rare ones count, but for less.

    An unknown label (NaN) is what is usual.
    """
    labels = Y[:, label_varies(Y)]
    centered = np.nan_to_num(labels - np.nanmean(labels, axis=0))
    T: Float = centered / np.sqrt(np.sqrt((centered**2).sum(axis=0)))
    return T


def margins(rows: Float, knockoffs: Float, unit: Int, n_units: int, T: Float) -> Float:
    """Importance of each unit less that of its knockoff; `unit` is that of each coordinate of the rows."""
    both = np.concatenate([rows, knockoffs], axis=1)
    both = both - both.mean(axis=0)
    found = path_importances(both, np.concatenate([unit, unit + n_units]), 2 * n_units, T)
    return np.asarray(found[:n_units] - found[n_units:])


def path_importances(Z: Float, group: Int, n_groups: int, T: Float) -> Float:
    """The mean length of each group's coefficients over a path of penalties.

    At each penalty λ, ½ ‖Z B - T‖² / n + λ Σ_g √(columns of g) ‖B_g‖ is minimal, by accelerated proximal gradients that
    begin anew when they go up. Groups are of columns and all labels, so that a unit enters for all labels at once.
    """
    n, wide = len(Z), len(Z) < Z.shape[1]
    size = np.sqrt(np.bincount(group, minlength=n_groups))
    products = Z.T @ T / n
    products_of = Z @ Z.T / n if wide else Z.T @ Z / n  # both have the same largest eigenvalue
    gram, steepest = None if wide else products_of, float(np.linalg.eigvalsh(products_of)[-1])
    lengths = _lengths(products, group, n_groups)
    largest = float(np.max(np.divide(lengths, size, out=np.zeros_like(lengths), where=size > 0), initial=0.0))
    importance, B = np.zeros(n_groups), np.zeros_like(products)
    if not largest or not steepest:
        return importance
    for share in PENALTIES:
        cut = share * largest * size / steepest
        ahead, before, speed = B, B, 1.0
        for _ in range(STEPS):
            slope = (Z.T @ (Z @ ahead) / n if gram is None else gram @ ahead) - products
            B = _shrunk(ahead - slope / steepest, group, cut)
            if np.sum((ahead - B) * (B - before)) > 0:
                speed = 1.0
            faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
            moved = B - before
            ahead, before, speed = B + (speed - 1) / faster * moved, B, faster
            if np.abs(moved).max() <= SETTLED * np.abs(B).max():
                break
        importance += _lengths(B, group, n_groups)
    return importance / len(PENALTIES)


def _lengths(B: Float, group: Int, n_groups: int) -> Float:
    return np.asarray(np.sqrt(np.bincount(group, np.einsum("cl,cl->c", B, B), minlength=n_groups)))


def _shrunk(B: Float, group: Int, cut: Float) -> Float:
    length = _lengths(B, group, len(cut))
    left = np.maximum(1 - np.divide(cut, length, out=np.full_like(cut, np.inf), where=length > 0), 0.0)
    return np.asarray(B * left[group][:, None])

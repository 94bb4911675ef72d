"""Labels in [0, 1] that stand for those of the unlabeled rows, made from what a regression predicts there."""

from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.rivals.row_graph import blocks
from fedsieve.rivals.row_sparse import ridge_inverse


def in_box(rows: Float) -> Float:
    """The nearest values in [0, 1].

    >>> in_box(np.array([[-0.2, 0.3, 1.5]]))
    array([[0. , 0.3, 1. ]])
    """
    return np.clip(rows, 0.0, 1.0)


def on_simplex(rows: Float) -> Float:
    """For each row, the nearest one of values >= 0 that add up to 1: all are lowered alike, and 0 where below.

    >>> on_simplex(np.array([[0.5, 0.9, -3.0]]))
    array([[0.3, 0.7, 0. ]])
    """
    n_labels = rows.shape[1]
    descending = -np.sort(-rows, axis=1)
    # If the m largest values remain, this is by how much they are too high; that m is right which remains positive.
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, n_labels + 1)
    n_left = (descending > excess).sum(axis=1)
    lowered: Float = rows - np.take_along_axis(excess, n_left[:, None] - 1, axis=1)
    return np.maximum(lowered, 0.0)


class NeighborlyLabels:
    """Soft labels close to a regression's predictions and to those of neighboring rows.

    They minimize ‖X_u W + 1 bᵀ - F_u‖² + alpha tr(Fᵀ Lap F), labeled rows being F_l = Y_l, and are then put in [0, 1].
    """

    def __init__(self, X: Float, Y: Float, labeled: Bool, laplacian: Any, alpha: float) -> None:
        among, to_labeled = blocks(laplacian, labeled)
        solve = ridge_inverse(alpha * among, 1.0)
        # The system is linear: solved for these once, it is solved for every W and b.
        self.of_rows = solve(X[~labeled])
        self.of_ones = solve(np.ones((len(among), 1)))
        self.of_labels = solve(-alpha * (to_labeled @ Y[labeled]))

    def predict(self, W: Float, b: Float) -> Float:
        """F_u (n_unlabeled, n_labels)."""
        return in_box(self.of_rows @ W + self.of_ones * b + self.of_labels)

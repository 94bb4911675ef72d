"""Graphs of rows that are near each other, and soft labels that neighbors share.

A graph is a sparse Laplacian diag(A 1) - A of symmetric weights A.
"""

from typing import Any

import numpy as np
from scipy import sparse

from fedsieve.arrays import Bool, Float, Int
from fedsieve.learning.neighbors import nearest
from fedsieve.rivals.row_sparse import ridge_inverse
from fedsieve.rivals.semi_supervised import in_box

SAME = 1e-12  # neighbors whose distances add up to less than this are equally likely


def binary_laplacian(rows: Float, n_neighbors: int) -> Any:
    """A_ij = 1 if i is among the nearest rows of j, or j among those of i; ties go to the smaller index.

    >>> binary_laplacian(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    near = nearest(rows, min(n_neighbors, len(rows) - 1))
    A = _from_rows(near, np.ones(near.shape))
    return _laplacian(A.maximum(A.T))


def probabilistic_laplacian(rows: Float, n_neighbors: int) -> Any:
    """A = (S + Sᵀ) / 2, where a row of S shares 1 among the k nearest rows, less to farther ones, 0 to the next.

    s_ij = (e_i,k+1 - e_ij) / (k e_i,k+1 - Σ_{h<=k} e_ih) with e the squared distances, nearest first. Where all these
    are equal, or if there is no next row, the k share evenly.

    >>> probabilistic_laplacian(np.array([[0.0], [1.0], [2.0], [4.0]]), 2).toarray()[0].round(3)  # 1/2 (15/27 + 8/16)
    array([ 0.75 , -0.528, -0.222,  0.   ])
    """
    k = min(n_neighbors, len(rows) - 1)
    near = nearest(rows, min(k + 1, len(rows) - 1))
    shares = np.full((len(rows), k), 1.0 / k)
    if near.shape[1] > k:
        squares = np.stack([((rows - rows[others]) ** 2).sum(axis=1) for others in near.T], axis=1)
        closer = squares[:, [k]] - squares[:, :k]
        total = k * squares[:, k] - squares[:, :k].sum(axis=1)
        differ = total > SAME
        shares[differ] = closer[differ] / total[differ, None]
    S = _from_rows(near[:, :k], shares)
    return _laplacian((S + S.T) / 2)


def blocks(laplacian: Any, labeled: Bool) -> tuple[Float, Any]:
    """The rows of the unlabeled: columns of the unlabeled (dense), and of the labeled (sparse)."""
    rows = laplacian[np.flatnonzero(~labeled)]
    return rows[:, np.flatnonzero(~labeled)].toarray(), rows[:, np.flatnonzero(labeled)]


def roughness(laplacian: Any, F: Float) -> float:
    """tr(Fᵀ Lap F): how much neighbors differ."""
    return float((F * (laplacian @ F)).sum())


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


def _from_rows(near: Int, weights: Float) -> Any:
    n_rows, k = near.shape
    starts = np.arange(0, n_rows * k + 1, k)
    return sparse.csr_array((weights.ravel(), near.ravel(), starts), shape=(n_rows, n_rows))


def _laplacian(A: Any) -> Any:
    return sparse.csr_array(sparse.diags_array(A.sum(axis=1)) - A)

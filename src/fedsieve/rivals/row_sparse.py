"""Regression whose coefficients vanish by rows: ‖W‖₂,₁ made small by ever new weights of the rows' squared lengths.

The lengths ‖w_j‖ are not minimized themselves but Σ_j ‖w_j‖² / t_j, where t follows the last lengths. All systems are
solved in W / √t: there they stay well-conditioned when lengths go to 0.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fedsieve.arrays import Float
from fedsieve.ordering import rounded

EPSILON = 1e-6  # keeps the weights finite where a row has become 0
TINY = float(np.finfo(np.float64).tiny)


class RowSparseRegression:
    """W (n_features, n_labels) with the least ‖X W - F‖² + weight Σ_j ‖w_j‖² / t_j, for one X and ever new F and t.

    The columns of X have mean 0, so that F need not have. With `U` in place of the first X, what is minimized is
    tr(Wᵀ Xᵀ U W) - 2 tr(Wᵀ Xᵀ F) + weight Σ_j ‖w_j‖² / t_j; XᵀU must be symmetric, with no negative eigenvalue.
    """

    def __init__(self, X: Float, U: Float | None = None) -> None:
        self.X, self.U = X, U
        n_rows, n_features = X.shape
        self.gram: Float | None = X.T @ (X if U is None else U) if n_features <= n_rows else None

    def target(self, F: Float) -> Float:
        """What the other methods need of F; worth keeping where F stays."""
        around_zero = F - F.mean(axis=0)
        target: Float = around_zero if self.gram is None else self.X.T @ around_zero
        return target

    def solve(self, target: Float, t: Float, weight: float) -> Float:
        """The W of the least value."""
        if self.gram is None:
            return solve_by_rows(self.X, target, t, weight, self.U)
        roots = np.sqrt(t)[:, None]
        W: Float = roots * ridge_inverse(roots * self.gram * roots.T, weight)(roots * target)
        return W

    def explained(self, W: Float, target: Float) -> float:
        """By how much W lowers ‖X W - F‖² (or what takes its place with U) from its value at W = 0, F centered."""
        if self.gram is None:
            XW = self.X @ W
            return float((XW * (2 * target - (XW if self.U is None else self.U @ W))).sum())
        return float((W * (2 * target - self.gram @ W)).sum())


def solve_by_rows(X: Float, F: Float, t: Float, weight: float, U: Float | None = None) -> Float:
    """W = T Xᵀ (U T Xᵀ + weight I)⁻¹ F with T = diag(t) and U = X by default: cheap for n_rows < n_features."""
    roots = np.sqrt(t)
    scaled = X * roots
    products = (scaled if U is None else U * roots) @ scaled.T
    W: Float = roots[:, None] * (scaled.T @ ridge_inverse(products, weight)(F))
    return W


def ridge_inverse(matrix: Float, weight: float) -> Callable[[Float], Float]:
    """The inverse of matrix + weight I, as a function of the right side; overwrites the matrix."""
    if not len(matrix):
        return np.copy
    matrix.flat[:: len(matrix) + 1] += weight
    # Unlike Cholesky's, this also survives an eigenvalue that should be 0 but is a little less.
    factors = lu_factor(matrix, overwrite_a=True, check_finite=False)
    return partial(lu_solve, factors, check_finite=False)


def lengths(rows: Float) -> Float:
    """‖w_j‖ of each row."""
    result: Float = np.sqrt((rows * rows).sum(axis=1))
    return result


def shared_by_copies(scores: Float, X: Float) -> Float:
    """The scores, where columns of X that are equal as far as `rounded` tells have the mean of theirs.

    Equal columns have equal lengths ‖w_j‖ by the formulas. But nothing pulls them together again: from solve to solve
    rounding drives them apart, in the end past what an order by rounded scores forgives.

    >>> shared_by_copies(np.array([0.25, 0.5, 0.3]), np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]))
    array([0.375, 0.375, 0.3  ])
    """
    seen: dict[bytes, int] = {}
    columns = rounded(X).T + 0.0  # no -0
    kind = [seen.setdefault(column.tobytes(), len(seen)) for column in columns]
    means: Float = np.bincount(kind, scores) / np.bincount(kind)
    return means[kind]


def reweighted(row_lengths: Float) -> Float:
    """t for the next solve."""
    return 2 * row_lengths + EPSILON


def smoothed(row_lengths: Float) -> Float:
    """What `reweighted` minimizes step by step in place of the lengths: never above them."""
    result: Float = row_lengths - EPSILON / 2 * np.log1p(2 * row_lengths / EPSILON)
    return result


def settled(objective: Sequence[float], tol: float) -> bool:
    """Whether the last step changed the objective by a share of less than `tol`.

    >>> settled([5.0], 0.1), settled([5.0, 4.0], 0.1), settled([5.0, 4.0, 3.9], 0.1)
    (False, False, True)
    """
    if len(objective) < 2:
        return False
    before, now = objective[-2:]
    return abs(now - before) / max(abs(before), TINY) < tol

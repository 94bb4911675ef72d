"""FSNM (also known as RFS): regression on the labels with row-sparse weights and a loss robust to odd rows."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import ABOVE_ZERO, check_count, check_number
from fedsieve.ordering import ranked
from fedsieve.rivals import row_sparse
from fedsieve.rivals.rival import SupervisedRival
from fedsieve.rivals.row_sparse import lengths, reweighted, ridge_inverse, shared_by_copies, smoothed

N_REFINEMENTS = 2  # the products of features among each other have lost half of the digits


class FSNM(SupervisedRival):
    """Minimizes ‖X W - Y‖₂,₁ + gamma ‖W‖₂,₁ by reweighted least squares; ranks features by the length of W's rows.

    F. Nie, H. Huang, X. Cai, C. Ding: Efficient and Robust Feature Selection via Joint l2,1-Norms Minimization.
    NIPS 2010.

    Fidelity: checked against published code. Same iterates; the n x (n + d) matrices of that code do not appear, since
    half of its unknowns are the residuals. The features are used as they are: lengths depend on the columns' scales.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    gamma : weight of the penalty, above 0; larger leaves fewer features.
    fit_intercept : append a column of ones, penalized like a feature and left out of the ranking.
    tol : stop when the objective has changed by less.
    max_iter : stop after so many solves in any case.

    After `fit`: `objective_` after each solve (smoothed, so that it never rises) and `n_iter_`, how many there were.

    Complexity: O(n d min(n, d) + min(n, d)^3) per solve.
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        gamma: float = 1.0,
        fit_intercept: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        super().__init__(n_features_to_select)
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_number("FSNM", "gamma", self.gamma, *ABOVE_ZERO)
        check_number("FSNM", "tol", self.tol, "a number of at least 0", lambda tol: tol >= 0)
        check_count("FSNM", "max_iter", self.max_iter)
        with_one = np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X
        W, self.objective_ = sparse_regression(with_one, Y, self.gamma, self.tol, self.max_iter)
        self.n_iter_ = len(self.objective_)
        scores = shared_by_copies(lengths(W)[: X.shape[1]], X)
        return scores, ranked(scores)


def sparse_regression(X: Float, Y: Float, gamma: float, tol: float, max_iter: int) -> tuple[Float, Float]:
    """The coefficients W (n_features, n_labels) and the smoothed objective after each solve.

    Each solve minimizes Σ_i ‖r_i‖² / s_i + gamma Σ_j ‖w_j‖² / t_j, where s and t are twice the last lengths of the
    residuals' and of W's rows, plus row_sparse.EPSILON.
    """
    solve = weighted_solve_by_rows if len(X) <= X.shape[1] else weighted_solve_by_features
    s, t = np.full(len(X), gamma), np.ones(X.shape[1])  # the published start: 1 for W and for the residuals / gamma
    objective: list[float] = []
    while True:
        W = solve(X, Y, s, t, gamma)
        residuals, coefficients = lengths(Y - X @ W), lengths(W)
        objective.append(float(smoothed(residuals).sum() + gamma * smoothed(coefficients).sum()))
        settled = len(objective) > 1 and abs(objective[-1] - objective[-2]) < tol
        if settled or len(objective) == max_iter:
            return W, np.array(objective)
        s, t = reweighted(residuals), reweighted(coefficients)


def weighted_solve_by_rows(X: Float, Y: Float, s: Float, t: Float, gamma: float) -> Float:
    """The published step, for n_rows <= n_features: W = T Xᵀ (X T Xᵀ + gamma S)⁻¹ Y, S and T being diagonal."""
    roots = np.sqrt(s)[:, None]
    return row_sparse.solve_by_rows(X / roots, Y / roots, t, gamma)


def weighted_solve_by_features(X: Float, Y: Float, s: Float, t: Float, gamma: float) -> Float:
    """The same W, cheaper for n_rows > n_features: W = (Xᵀ S⁻¹ X + gamma T⁻¹)⁻¹ Xᵀ S⁻¹ Y."""
    roots = np.sqrt(s)[:, None]
    scaled, targets = X * np.sqrt(t) / roots, Y / roots
    solve = ridge_inverse(scaled.T @ scaled, gamma)
    scaled_W = solve(scaled.T @ targets)
    for _ in range(N_REFINEMENTS):
        scaled_W += solve(scaled.T @ (targets - scaled @ scaled_W) - gamma * scaled_W)
    W: Float = np.sqrt(t)[:, None] * scaled_W
    return W

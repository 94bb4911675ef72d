"""FSNM (also known as RFS): regression on the labels with row-sparse weights and a loss robust to odd rows."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fedsieve.arrays import Float, Int
from fedsieve.rivals.parameters import check_number, check_whole
from fedsieve.rivals.picking import order_by
from fedsieve.rivals.supervised import SupervisedRival

N_REFINEMENTS = 2  # the products of features among each other have lost half of the digits
EPSILON = 1e-6  # keeps the weights finite where a residual or a coefficient has become 0


class FSNM(SupervisedRival):
    """Minimises ‖X W - Y‖₂,₁ + gamma ‖W‖₂,₁ by reweighted least squares; ranks features by the length of W's rows.

    F. Nie, H. Huang, X. Cai, C. Ding: Efficient and Robust Feature Selection via Joint l2,1-Norms Minimization.
    NIPS 2010.

    Fidelity: checked against published code. Same iterates; the n x (n + d) matrices of that code do not appear, since
    half of its unknowns are the residuals. The features are used as they are: lengths depend on the columns' scales.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps; None: the share of the paper's rule.
    gamma : weight of the penalty, above 0; larger leaves fewer features.
    fit_intercept : append a column of ones, penalised like a feature and left out of the ranking.
    tol : stop when the objective has changed by less.
    max_iter : stop after so many solves in any case.

    After `fit`: `objective_` after each solve (smoothed, so that it never rises) and `n_iter_`, how many there were.

    Complexity: O(n d min(n, d) + min(n, d)^3) per solve.
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
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
        check_number("FSNM", "gamma", self.gamma, "above 0", lambda gamma: 0 < gamma < math.inf)
        check_number("FSNM", "tol", self.tol, "of at least 0", lambda tol: tol >= 0)
        check_whole("FSNM", "max_iter", self.max_iter)
        n_features = X.shape[1]
        if self.fit_intercept:
            X = np.column_stack([X, np.ones(len(X))])
        W, self.objective_ = sparse_regression(X, Y, self.gamma, self.tol, self.max_iter)
        self.n_iter_ = len(self.objective_)
        scores = _lengths(W)[:n_features]
        return scores, order_by(scores)


def sparse_regression(X: Float, Y: Float, gamma: float, tol: float, max_iter: int) -> tuple[Float, Float]:
    """The coefficients W (n_features, n_labels) and the smoothed objective after each solve.

    Each solve minimises Σ_i ‖r_i‖² / s_i + gamma Σ_j ‖w_j‖² / t_j, where s and t are twice the last lengths of the
    residuals' and of W's rows, plus EPSILON.
    """
    solve = solve_by_rows if len(X) <= X.shape[1] else solve_by_features
    s, t = np.full(len(X), gamma), np.ones(X.shape[1])  # the published start: 1 for W and for the residuals / gamma
    objective: list[float] = []
    while True:
        W = solve(X, Y, s, t, gamma)
        residuals, coefficients = _lengths(Y - X @ W), _lengths(W)
        objective.append(float(_smoothed(residuals).sum() + gamma * _smoothed(coefficients).sum()))
        settled = len(objective) > 1 and abs(objective[-1] - objective[-2]) < tol
        if settled or len(objective) == max_iter:
            return W, np.array(objective)
        s, t = 2 * residuals + EPSILON, 2 * coefficients + EPSILON


def solve_by_rows(X: Float, Y: Float, s: Float, t: Float, gamma: float) -> Float:
    """The published step, for n_rows <= n_features: W = T Xᵀ (X T Xᵀ + gamma S)⁻¹ Y, S and T being diagonal."""
    scaled, targets = _scaled(X, Y, s, t)
    W: Float = np.sqrt(t)[:, None] * (scaled.T @ _solve(scaled @ scaled.T, gamma)(targets))
    return W


def solve_by_features(X: Float, Y: Float, s: Float, t: Float, gamma: float) -> Float:
    """The same W, cheaper for n_rows > n_features: W = (Xᵀ S⁻¹ X + gamma T⁻¹)⁻¹ Xᵀ S⁻¹ Y."""
    scaled, targets = _scaled(X, Y, s, t)
    solve = _solve(scaled.T @ scaled, gamma)
    scaled_W = solve(scaled.T @ targets)
    for _ in range(N_REFINEMENTS):
        scaled_W += solve(scaled.T @ (targets - scaled @ scaled_W) - gamma * scaled_W)
    W: Float = np.sqrt(t)[:, None] * scaled_W
    return W


def _scaled(X: Float, Y: Float, s: Float, t: Float) -> tuple[Float, Float]:
    """S^-½ X T^½ and S^-½ Y: in these the systems stay well-conditioned when lengths go to 0."""
    rows = 1.0 / np.sqrt(s)[:, None]
    return X * np.sqrt(t) * rows, Y * rows


def _solve(gram: Float, gamma: float) -> Callable[[Float], Float]:
    """The inverse of gram + gamma I, as a function of the right side."""
    gram.flat[:: len(gram) + 1] += gamma
    factors = lu_factor(gram, overwrite_a=True, check_finite=False)
    return partial(lu_solve, factors, check_finite=False)


def _lengths(rows: Float) -> Float:
    lengths: Float = np.sqrt((rows * rows).sum(axis=1))
    return lengths


def _smoothed(lengths: Float) -> Float:
    """What the weights 1 / (2 length + EPSILON) minimise step by step in place of the lengths: never above them."""
    smoothed: Float = lengths - EPSILON / 2 * np.log1p(2 * lengths / EPSILON)
    return smoothed

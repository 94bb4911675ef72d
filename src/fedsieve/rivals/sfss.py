"""SFSS: soft labels that vary little among neighbors, and a row-sparse regression that predicts them."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import ABOVE_ZERO, AT_LEAST_ZERO, check_count, check_number
from fedsieve.rivals.row_graph import binary_laplacian, blocks, roughness
from fedsieve.rivals.row_sparse import RowSparseRegression, lengths, reweighted, ridge_inverse, settled, smoothed
from fedsieve.rivals.semi_supervised import LinearModel, SemiSupervisedRival, centered, known_labels


class SFSS(SemiSupervisedRival):
    """Structural feature selection with sparsity: ranks features by the length of the rows of W, which minimizes

        tr(Fᵀ Lap F) + unlabeled_weight ‖F_u‖² + mu ‖X W + 1 bᵀ - F‖² + gamma ‖W‖₂,₁

    together with an intercept b and soft labels F; labeled rows keep their labels, Lap is the Laplacian of the graph
    of nearest rows.

    Z. Ma, F. Nie, Y. Yang, J. Uijlings, N. Sebe, A. Hauptmann: Discriminating Joint Feature Analysis for Multimedia
    Data Understanding. IEEE Trans. Multimedia 14(6), 1662-1672, 2012.

    Fidelity: from the text, as remembered; no published code is known. The features are scaled to [0, 1].

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    mu : weight of the regression, above 0, or "auto": chosen on hidden labels of the labeled rows.
    gamma : weight of the penalty, above 0, or "auto"; larger leaves fewer features.
    n_neighbors : nearest rows that a row is tied to.
    unlabeled_weight : pulls the soft labels to 0, at least 0; 1 as published.
    tol : stop when the objective has changed by a smaller share.
    max_iter : stop after so many solves in any case.

    Complexity: O(n_u³ + n_u² (d + L) + n d²) once, where n_u rows are unlabeled, and O(d³ + d² L) per solve; if there
    are more features than rows, O(n² d + n³) per solve.
    """

    weight_rules: ClassVar = {"mu": ABOVE_ZERO, "gamma": ABOVE_ZERO}

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        mu: float | str = 1.0,
        gamma: float | str = 1.0,
        n_neighbors: int = 15,
        unlabeled_weight: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 50,
    ) -> None:
        super().__init__(n_features_to_select)
        self.mu = mu
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.unlabeled_weight = unlabeled_weight
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_count("SFSS", "n_neighbors", self.n_neighbors)
        check_number("SFSS", "unlabeled_weight", self.unlabeled_weight, *AT_LEAST_ZERO)

    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        return sfss(
            table,
            Y,
            labeled,
            **weights,
            n_neighbors=self.n_neighbors,
            unlabeled_weight=self.unlabeled_weight,
            tol=self.tol,
            max_iter=self.max_iter,
        )


def sfss(
    table: Float,
    Y: Float,
    labeled: Bool,
    *,
    mu: float,
    gamma: float,
    n_neighbors: int,
    unlabeled_weight: float,
    tol: float,
    max_iter: int,
) -> LinearModel:
    """Each solve is exact in F, W and b together, gamma ‖W‖₂,₁ being gamma Σ_j ‖w_j‖² / t_j.

    For every W the best soft labels are F₀ + P W, so that only W is left: Xᵀ((X - P) W - F₀) + (gamma / mu) T⁻¹ W = 0.
    F₀ holds Y_l in labeled rows and -A_uu⁻¹ A_ul Y_l in the others, P holds 0 and mu A_uu⁻¹ X_u, where
    A = Lap + unlabeled_weight I_u + mu H and H is the centering.
    """
    X, F, P = centered(table), known_labels(Y, labeled), np.zeros_like(table)
    n_rows = len(X)
    laplacian = binary_laplacian(table, n_neighbors)
    among, to_labeled = blocks(laplacian, labeled)
    solve = ridge_inverse(among - mu / n_rows, unlabeled_weight + mu)
    F[~labeled] = solve(mu / n_rows * F.sum(axis=0) - to_labeled @ F[labeled])
    P[~labeled] = mu * solve(X[~labeled])
    at_zero = (
        roughness(laplacian, F) + unlabeled_weight * (F[~labeled] ** 2).sum() + mu * ((F - F.mean(axis=0)) ** 2).sum()
    )
    regression = RowSparseRegression(X, X - P)
    target = regression.target(F)
    t = np.ones(X.shape[1])
    objective: list[float] = []
    while True:
        W = regression.solve(target, t, gamma / mu)
        scores = lengths(W)
        objective.append(float(at_zero - mu * regression.explained(W, target) + gamma * smoothed(scores).sum()))
        if settled(objective, tol) or len(objective) == max_iter:
            return LinearModel(W, F.mean(axis=0) + P.mean(axis=0) @ W, np.array(objective), scores)
        t = reweighted(scores)

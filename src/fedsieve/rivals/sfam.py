"""SFAM: SCFC's kind of regression whose predictions can also be reconstructed from each other."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import ABOVE_ZERO, AT_LEAST_ZERO, check_count, check_number
from fedsieve.rivals.row_graph import NeighborlyLabels, binary_laplacian, roughness
from fedsieve.rivals.row_sparse import RowSparseRegression, lengths, reweighted, ridge_inverse, settled, smoothed
from fedsieve.rivals.semi_supervised import LinearModel, SemiSupervisedRival, centered, known_labels


class SFAM(SemiSupervisedRival):
    """Adaptive structure and manifold learning: ranks features by the length of the rows of W, which makes small

        ‖X W + 1 bᵀ - F‖² + alpha tr(Fᵀ Lap F) + beta (‖X W - S X W‖² + rho ‖S‖²) + gamma ‖W‖₂,₁

    together with an intercept b, soft labels F in [0, 1] and a structure S with a diagonal of 0; labeled rows keep
    their labels, Lap is the Laplacian of the graph of nearest rows.

    S. Lv, S. Shi, H. Wang, F. Li: Semi-supervised multi-label feature selection with adaptive structure learning and
    manifold learning. Knowledge-Based Systems 214, 106757, 2021.

    Fidelity: our reading; of the paper only the idea was at hand, the formulas are ours. S is the ridge regression of
    all predictions on each other with its diagonal set to 0, and soft labels are cut off at their limits, so that the
    objective may rise. The features are scaled to [0, 1].

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    alpha : weight of the manifold, at least 0, or "auto": chosen on hidden labels of the labeled rows.
    beta : weight of the structure, at least 0, or "auto".
    gamma : weight of the penalty, above 0, or "auto"; larger leaves fewer features.
    rho : ridge of the structure, above 0.
    n_neighbors : nearest rows that a row is tied to.
    tol : stop when the objective has changed by a smaller share.
    max_iter : stop after so many steps in any case.

    Complexity: O(n_u³ + n_u² (d + L) + n² d) once, where n_u rows are unlabeled, and O(n d (d + L) + d³ + n L²) per
    step; if there are more features than rows, O(n² (n + d)) in place of d³.
    """

    weight_rules: ClassVar = {"alpha": AT_LEAST_ZERO, "beta": AT_LEAST_ZERO, "gamma": ABOVE_ZERO}

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        alpha: float | str = 1.0,
        beta: float | str = 1.0,
        gamma: float | str = 1.0,
        rho: float = 1.0,
        n_neighbors: int = 5,
        tol: float = 1e-4,
        max_iter: int = 50,
    ) -> None:
        super().__init__(n_features_to_select)
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_number("SFAM", "rho", self.rho, *ABOVE_ZERO)
        check_count("SFAM", "n_neighbors", self.n_neighbors)

    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        return sfam(
            table,
            Y,
            labeled,
            **weights,
            rho=self.rho,
            n_neighbors=self.n_neighbors,
            tol=self.tol,
            max_iter=self.max_iter,
        )


def sfam(
    table: Float,
    Y: Float,
    labeled: Bool,
    *,
    alpha: float,
    beta: float,
    gamma: float,
    rho: float,
    n_neighbors: int,
    tol: float,
    max_iter: int,
) -> LinearModel:
    """Structure, regression and soft labels in turns; the first structure is that of a regression without one."""
    X, F = centered(table), known_labels(Y, labeled)
    laplacian = binary_laplacian(table, n_neighbors)
    soft = NeighborlyLabels(X, F, labeled, laplacian, alpha)
    alone = RowSparseRegression(X)
    W = alone.solve(alone.target(F), np.ones(X.shape[1]), gamma)
    Z, t = X @ W, reweighted(lengths(W))
    objective: list[float] = []
    while True:
        structure = Structure(Z, rho)
        regression = RowSparseRegression(X, X + beta * structure.missed(structure.missed(X)))
        W, b = regression.solve(regression.target(F), t, gamma), F.mean(axis=0)
        F[~labeled] = soft.predict(W, b)
        Z, scores = X @ W, lengths(W)
        squares = ((Z + b - F) ** 2).sum() + alpha * roughness(laplacian, F)
        kept = (structure.missed(Z) ** 2).sum() + rho * structure.squares()
        objective.append(float(squares + beta * kept + gamma * smoothed(scores).sum()))
        if settled(objective, tol) or len(objective) == max_iter:
            return LinearModel(W, b, np.array(objective), scores)
        t = reweighted(scores)


class Structure:
    """S = Z K Zᵀ without its diagonal, where K = (ZᵀZ + rho I)⁻¹; (n_rows, n_rows), but never formed."""

    def __init__(self, Z: Float, rho: float) -> None:
        self.Z = Z
        self.KZ: Float = ridge_inverse(Z.T @ Z, rho)(Z.T)
        self.diagonal: Float = (Z * self.KZ.T).sum(axis=1)

    def missed(self, A: Float) -> Float:
        """A - S A; S is symmetric."""
        missed: Float = A - self.Z @ (self.KZ @ A) + self.diagonal[:, None] * A
        return missed

    def squares(self) -> float:
        """‖S‖²."""
        overlap = self.KZ @ self.Z
        return float((overlap * overlap.T).sum() - (self.diagonal**2).sum())

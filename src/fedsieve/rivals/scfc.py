"""SCFC: a row-sparse regression on soft labels that rows alike in their features share."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import ABOVE_ZERO, AT_LEAST_ZERO, check_count
from fedsieve.ordering import rounded
from fedsieve.rivals.row_graph import NeighborlyLabels, probabilistic_laplacian, roughness
from fedsieve.rivals.row_sparse import RowSparseRegression, lengths, reweighted, settled, smoothed
from fedsieve.rivals.semi_supervised import LinearModel, SemiSupervisedRival, centered, known_labels

DECIMALS = 12  # equal rows stay equal


class SCFC(SemiSupervisedRival):
    """Feature-label space consistency: ranks features by the length of the rows of W, which makes small

        ‖X W + 1 bᵀ - F‖² + alpha tr(Fᵀ Lap F) + beta ‖W‖₂,₁

    together with an intercept b and soft labels F in [0, 1]; labeled rows keep their labels, Lap is the Laplacian of
    the graph of probabilistic neighbors.

    Y. Xu, J. Wang, S. An, J. Wei, J. Ruan: Semi-supervised Multi-label Feature Selection by Preserving Feature-Label
    Space Consistency. CIKM 2018, 783-792.

    Fidelity: our reading of the abstract; weights, constraints and steps are ours. The soft labels of a step are the
    least of the objective without the limits, then cut off at them, so that the objective may rise a little. The
    features are scaled to [0, 1].

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    alpha : weight of the consistency, at least 0, or "auto": chosen on hidden labels of the labeled rows.
    beta : weight of the penalty, above 0, or "auto"; larger leaves fewer features.
    n_neighbors : probabilistic neighbors of a row.
    refresh : find the neighbors anew after each step, by distances of predictions and of soft labels.
    tol : stop when the objective has changed by a smaller share.
    max_iter : stop after so many steps in any case.

    Complexity: O(n_u³ + n_u² (d + L) + n² d) once, where n_u rows are unlabeled, and O(n d L + d² (d + L)) per step;
    with `refresh` all of it per step; if there are more features than rows, O(n² (n + d)) per step.
    """

    weight_rules: ClassVar = {"alpha": AT_LEAST_ZERO, "beta": ABOVE_ZERO}

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        alpha: float | str = 1.0,
        beta: float | str = 1.0,
        n_neighbors: int = 5,
        refresh: bool = False,
        tol: float = 1e-4,
        max_iter: int = 50,
    ) -> None:
        super().__init__(n_features_to_select)
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.refresh = refresh
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_count("SCFC", "n_neighbors", self.n_neighbors)

    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        return scfc(
            table,
            Y,
            labeled,
            **weights,
            n_neighbors=self.n_neighbors,
            refresh=self.refresh,
            tol=self.tol,
            max_iter=self.max_iter,
        )


def scfc(
    table: Float,
    Y: Float,
    labeled: Bool,
    *,
    alpha: float,
    beta: float,
    n_neighbors: int,
    refresh: bool,
    tol: float,
    max_iter: int,
) -> LinearModel:
    """Regression on the soft labels and soft labels from regression and neighbors, in turns."""
    X, F = centered(table), known_labels(Y, labeled)
    regression = RowSparseRegression(X)
    laplacian = probabilistic_laplacian(table, n_neighbors)
    soft = NeighborlyLabels(X, F, labeled, laplacian, alpha)
    t = np.ones(X.shape[1])
    objective: list[float] = []
    while True:
        W, b = regression.solve(regression.target(F), t, beta), F.mean(axis=0)
        F[~labeled] = soft.predict(W, b)
        predictions, scores = X @ W + b, lengths(W)
        squares = ((predictions - F) ** 2).sum() + alpha * roughness(laplacian, F)
        objective.append(float(squares + beta * smoothed(scores).sum()))
        if settled(objective, tol) or len(objective) == max_iter:
            return LinearModel(W, b, np.array(objective), scores)
        t = reweighted(scores)
        if refresh:
            seen = rounded(np.hstack([predictions - b, F]), DECIMALS)
            laplacian = probabilistic_laplacian(seen, n_neighbors)
            soft = NeighborlyLabels(X, F, labeled, laplacian, alpha)

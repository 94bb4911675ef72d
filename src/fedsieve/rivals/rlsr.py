"""RLSR: regression on features rescaled by shares of importance, which it learns along with the missing labels."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import ABOVE_ZERO, check_choice, check_count
from fedsieve.rivals.row_sparse import RowSparseRegression, lengths, settled
from fedsieve.rivals.semi_supervised import LinearModel, SemiSupervisedRival, centered, in_box, known_labels

EPSILON = 1e-5  # no share of importance becomes 0
INNER_TOL = 1e-7


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


PROJECTIONS: dict[str, Callable[[Float], Float]] = {"simplex": on_simplex, "normalized": on_simplex, "box": in_box}


class RLSR(SemiSupervisedRival):
    """Rescaled linear square regression: ranks features by theta_j = ‖w_j‖ / Σ_k ‖w_k‖, where W minimizes

        ‖X W + 1 bᵀ - F‖² + gamma ‖W‖₂,₁²

    together with an intercept b and soft labels F; labeled rows keep their labels.

    X. Chen, G. Yuan, F. Nie, J. Z. Huang: Semi-supervised Feature Selection via Rescaled Linear Regression. IJCAI 2017,
    1525-1531.

    Fidelity: checked against published code. That is for one label per row; what the soft labels of several should be
    is our reading. The features are scaled to [0, 1].

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    gamma : weight of the penalty, above 0, or "auto": chosen on hidden labels of the labeled rows.
    soft_labels : "simplex": those of a row are not negative and add up to 1, labeled rows are as they are;
        "normalized": labeled rows are divided by their number of labels as well; "box": soft labels are in [0, 1].
    n_inner : most solves between two changes of the soft labels.
    tol : stop when the objective has changed by a smaller share from one change of the soft labels to the next.
    max_iter : most changes of the soft labels.

    Complexity: O(n d²) once, O(d² (d + L)) per solve and O(n L (d + log L)) per change of the soft labels; if there are
    more features than rows, O(n² (n + d)) per solve.
    """

    weight_rules: ClassVar = {"gamma": ABOVE_ZERO}

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        gamma: float | str = 1.0,
        soft_labels: str = "simplex",
        n_inner: int = 10,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        super().__init__(n_features_to_select)
        self.gamma = gamma
        self.soft_labels = soft_labels
        self.n_inner = n_inner
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_choice("RLSR", "soft_labels", self.soft_labels, PROJECTIONS)
        check_count("RLSR", "n_inner", self.n_inner)

    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        return rlsr(
            table,
            Y,
            labeled,
            **weights,
            soft_labels=self.soft_labels,
            n_inner=self.n_inner,
            tol=self.tol,
            max_iter=self.max_iter,
        )


def rlsr(
    table: Float,
    Y: Float,
    labeled: Bool,
    *,
    gamma: float,
    soft_labels: str,
    n_inner: int,
    tol: float,
    max_iter: int,
) -> LinearModel:
    """The model of the lowest objective, and the objective after each change of the soft labels."""
    X, F, project = centered(table), known_labels(Y, labeled), PROJECTIONS[soft_labels]
    if soft_labels == "normalized":
        F /= np.maximum(F.sum(axis=1, keepdims=True), 1.0)
    F[~labeled] = 1.0 / F.shape[1]
    regression = RowSparseRegression(X)
    theta = np.full(X.shape[1], 1.0 / X.shape[1])
    objective: list[float] = []
    while True:
        W, theta = rescaled(regression, F, theta, gamma, n_inner)
        b = F.mean(axis=0)
        predictions = X @ W + b
        F[~labeled] = project(predictions[~labeled])
        objective.append(float(((predictions - F) ** 2).sum() + gamma * lengths(W).sum() ** 2))
        if objective[-1] < min(objective[:-1], default=np.inf):
            best = W, b, theta
        if settled(objective, tol) or len(objective) == max_iter:
            W, b, theta = best
            return LinearModel(W, b, np.array(objective), theta)


def rescaled(
    regression: RowSparseRegression, F: Float, theta: Float, gamma: float, n_inner: int
) -> tuple[Float, Float]:
    """W and the shares theta in turns: for fixed shares, ‖W‖₂,₁² is Σ_j ‖w_j‖² / theta_j."""
    target = regression.target(F)
    spread = ((F - F.mean(axis=0)) ** 2).sum()
    objective: list[float] = []
    while True:
        W = regression.solve(target, theta, gamma)
        row_lengths = lengths(W)
        theta = (row_lengths + EPSILON) / (row_lengths + EPSILON).sum()
        objective.append(float(spread - regression.explained(W, target) + gamma * row_lengths.sum() ** 2))
        if settled(objective, INNER_TOL) or len(objective) == n_inner:
            return W, theta

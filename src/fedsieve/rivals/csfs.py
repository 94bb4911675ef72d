"""CSFS: a row-sparse regression that sets the labels of unlabeled rows to its own predictions."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.checks import ABOVE_ZERO
from fedsieve.rivals.row_sparse import RowSparseRegression, lengths, settled
from fedsieve.rivals.semi_supervised import LinearModel, SemiSupervisedRival, centered, in_box, known_labels

SQUARED_EPSILON = 1e-12  # keeps the weights finite where a row of W has become 0


class CSFS(SemiSupervisedRival):
    """Convex semi-supervised feature selection: ranks features by the length of the rows of W, which minimizes

        ‖X W + 1 bᵀ - F‖² + 2 alpha ‖W‖₂,₁

    together with an intercept b and soft labels F in [0, 1]; labeled rows keep their labels.

    X. Chang, F. Nie, Y. Yang, H. Huang: A Convex Formulation for Semi-Supervised Multi-Label Feature Selection. AAAI
    2014, 1171-1177.

    Fidelity: checked against published code, whose steps weigh the penalty twice as much as the text does. It starts
    at random, here W starts from equal weights of all features; it takes rows without labels for unlabeled, here they
    are marked. The features are scaled to [0, 1].

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    alpha : weight of the penalty, above 0, or "auto": chosen on hidden labels of the labeled rows.
    tol : stop when the objective has changed by a smaller share.
    max_iter : stop after so many solves in any case.

    Complexity: O(n d L + d² (d + L)) per solve, and O(n d²) once; if there are more features than rows, O(n² (n + d)).
    """

    weight_rules: ClassVar = {"alpha": ABOVE_ZERO}

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        alpha: float | str = 1.0,
        tol: float = 1e-3,
        max_iter: int = 100,
    ) -> None:
        super().__init__(n_features_to_select)
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def _model(self, table: Float, Y: Float, labeled: Bool, weights: Mapping[str, float]) -> LinearModel:
        return csfs(table, Y, labeled, **weights, tol=self.tol, max_iter=self.max_iter)


def csfs(table: Float, Y: Float, labeled: Bool, *, alpha: float, tol: float, max_iter: int) -> LinearModel:
    """Regression on the soft labels and soft labels from the regression, in turns; the objective never rises."""
    X, F = centered(table), known_labels(Y, labeled)
    regression = RowSparseRegression(X)
    t = np.ones(X.shape[1])
    objective: list[float] = []
    while True:
        W, b = regression.solve(regression.target(F), t, alpha), F.mean(axis=0)
        predictions = X @ W + b
        F[~labeled] = in_box(predictions[~labeled])
        scores = lengths(W)
        t = np.sqrt(scores**2 + SQUARED_EPSILON)
        objective.append(float(((predictions - F) ** 2).sum() + 2 * alpha * t.sum()))
        if settled(objective, tol) or len(objective) == max_iter:
            return LinearModel(W, b, np.array(objective), scores)

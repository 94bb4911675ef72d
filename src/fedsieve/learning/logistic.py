"""One logistic regression per label, all of them at once: the same models as one by one, in a fraction of the time."""

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from fedsieve.arrays import Float, Int
from fedsieve.values import dense

TOLERANCE = 1e-4  # of a coefficient, between two steps
MAX_STEPS = 2000


class LogisticPerLabel(ClassifierMixin, BaseEstimator):
    """Logistic regressions with the penalty ½‖w‖² each (C = 1), on columns divided by their deviations.

    All labels take each step together. The second derivatives of the loss are at most those of its value at even odds,
    XᵀX / 4 + I, which is inverted once: minimizing that bound never goes too far, and momentum (Nesterov's, begun anew
    where it leads astray) makes up for the caution. A label that all rows have, or none, has that probability.

    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> LogisticPerLabel().fit(X, Y).predict_proba(X).round(2)
    array([[0.22, 1.  ],
           [0.4 , 1.  ],
           [0.6 , 1.  ],
           [0.78, 1.  ]])
    """

    def fit(self, X: Any, Y: Int) -> Self:
        """Learn from X (n_rows, n_columns) and labels of 0 and 1, (n_rows, n_labels)."""
        rows = dense(X)
        deviation = rows.std(axis=0)
        self._center = rows.mean(axis=0)
        self._scale = 1 / np.where(deviation > 0, deviation, 1.0)
        share = Y.mean(axis=0)
        self._varies = (share > 0) & (share < 1)
        self._constant = share == 1
        self.coef_, self.intercept_ = _fitted(
            (rows - self._center) * self._scale, Y[:, self._varies].astype(np.float64), share[self._varies]
        )
        return self

    def predict_proba(self, X: Any) -> Float:
        """The probability of each label, (n_rows, n_labels)."""
        found = np.tile(self._constant.astype(np.float64), (X.shape[0], 1))
        found[:, self._varies] = expit((dense(X) - self._center) * self._scale @ self.coef_ + self.intercept_)
        return found

    def predict(self, X: Any) -> Int:
        """The labels that are at least as probable as not."""
        return (self.predict_proba(X) >= 0.5).astype(np.int64)


def _fitted(rows: Float, labels: Float, share: Float) -> tuple[Float, Float]:
    """Weights (n_columns, n_labels) and intercepts, of rows whose columns have mean 0."""
    n_rows, n_columns = rows.shape
    wide = n_rows < n_columns
    inverse = np.linalg.inv(4 * np.eye(n_rows) + rows @ rows.T if wide else rows.T @ rows / 4 + np.eye(n_columns))

    def step(slope: Float) -> Float:
        """(XᵀX / 4 + I)⁻¹ slope; of a wide table by the inverse of its rows' products."""
        return np.asarray(slope - rows.T @ (inverse @ (rows @ slope)) if wide else inverse @ slope)

    W = ahead_W = np.zeros((n_columns, labels.shape[1]))
    b = ahead_b = np.log(share / (1 - share))
    momentum = 1.0
    for _ in range(MAX_STEPS):
        error = expit(rows @ ahead_W + ahead_b) - labels
        change_W = step(rows.T @ error + ahead_W)
        change_b = error.sum(axis=0) * (4 / n_rows)
        next_W, next_b = ahead_W - change_W, ahead_b - change_b
        if max(np.abs(change_W).max(initial=0.0), np.abs(change_b).max(initial=0.0)) < TOLERANCE:
            return next_W, next_b
        moved_W, moved_b = next_W - W, next_b - b
        if -(change_W * moved_W).sum() - (change_b * moved_b).sum() < 0:
            momentum = 1.0  # the step led back: what was gathered does not help
        gathered = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead_W = next_W + (momentum - 1) / gathered * moved_W
        ahead_b = next_b + (momentum - 1) / gathered * moved_b
        W, b, momentum = next_W, next_b, gathered
    return W, b

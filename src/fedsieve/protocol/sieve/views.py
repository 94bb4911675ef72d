"""Three views of which features matter; each sees what the others miss, and what all of them see is robust.

- together: features taken so that their kernel aligns with the labels that a ridge regression, fitted on the labeled
  rows, predicts for all rows of the federation: relevant and unlike each other.
- alone: the coefficients of that regression on standardized columns: what nothing else can tell.
- trees: what randomized trees split the labeled rows by: not linear. It has half of the say.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.measures.alignment import greedy_alignment, mean_ranks
from fedsieve.protocol.messages import column_means
from fedsieve.protocol.sieve.plan import SievePlan

SAY = {"together": 0.25, "alone": 0.25, "trees": 0.5}
"""The views, and how much each of them counts."""
GLANCE = 4  # bootstraps and folds grow this part of the trees


@dataclass(frozen=True, eq=False)
class View:
    """Per unit a relevance, adding up to 1, the rank by this view, 0 for the best, and its worth in [0, 1]."""

    relevance: Float
    rank: Float
    worth: Float

    @classmethod
    def by_relevance(cls, relevance: Float) -> "View":
        """Worth is relative to the most relevant unit; its root, since a relevance adds up like a square."""
        worth = np.sqrt(relevance / max(float(relevance.max()), np.finfo(np.float64).tiny))
        return cls(relevance, mean_ranks(relevance), worth)

    @classmethod
    def by_order(cls, relevance: Float, order: Int) -> "View":
        """Worth is m / (m + rank), m being how many units are usually selected: the first tell little apart."""
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        m = default_n_features(len(order))
        return cls(relevance, rank, m / (m + rank))


class Sight:
    """What the federation told of its columns, ready to be combined with labeled rows, again and again.

    `covariance` is that of all rows' encoded columns, `unit` the unit of each column; `likeness` (n_units, n_units) has
    the sums of squared covariances between the columns of two units, the inner products of their linear kernels.
    """

    def __init__(self, covariance: Float, unit: Int, plan: SievePlan) -> None:
        self.likeness = _by_unit(_by_unit(covariance**2, unit).T, unit)
        self._covariance, self._unit, self._plan = covariance, unit, plan
        self._per_deviation = per_deviation(np.diagonal(covariance))

    def glance(self, X: Float, Y: Float) -> Int:
        """The units, best first, as some labeled rows show them; with fewer trees, since it is done many times."""
        n_trees = -(-self._plan.n_trees // GLANCE)
        return best_first(fused(self.views(X, Y, n_trees)), self.likeness)

    def views(self, X: Float, Y: Float, n_trees: int) -> dict[str, View]:
        """All views of labeled rows in encoded columns."""
        rows, targets, plan = X - column_means(X), label_targets(Y), self._plan
        predicted = self._covariance @ ridge_regression(rows, targets, plan.ridge)
        together = unit_shares((predicted**2).sum(axis=1), self._unit)
        coefficients = ridge_regression(rows * self._per_deviation, targets, plan.ridge)
        alone = unit_shares((coefficients**2).sum(axis=1), self._unit)
        trees = unit_shares(kernels.tree_importances(X, Y, n_trees, plan.seed), self._unit)
        return {
            "together": View.by_order(together, greedy_alignment(together, self.likeness)),
            "alone": View.by_relevance(alone),
            "trees": View.by_relevance(trees),
        }


def fused(views: dict[str, View]) -> Float:
    """One score per unit, in [0, 1]: the weighted mean of what it is worth to the views."""
    score: Float = np.sum([SAY[name] * view.worth for name, view in views.items()], axis=0)
    return score


def mean_relevance(views: dict[str, View]) -> Float:
    """One relevance per unit, adding up to 1."""
    relevance: Float = np.sum([SAY[name] * view.relevance for name, view in views.items()], axis=0)
    return relevance


def best_first(score: Float, likeness: Float) -> Int:
    """Units by descending score, those without variance last, ties by index."""
    constant = np.diagonal(likeness) <= 0
    return np.lexsort((np.arange(len(score)), -np.round(score, 12), constant))


def label_targets(Y: Float) -> Float:
    """Labels centered and scaled to unit length, so that rare labels count as frequent ones do; constants left out.

    >>> label_targets(np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([[ 0.70710678],
           [-0.70710678]])
    """
    centered = Y - Y.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    varies = np.ptp(Y, axis=0) > 0
    targets: Float = centered[:, varies] / length[varies]
    return targets


def ridge_regression(X: Float, targets: Float, strength: float) -> Float:
    """Coefficients (n_columns, n_targets) of centered rows; the penalty is in units of the mean column's squares."""
    n_rows, n_columns = X.shape
    penalty = strength * float((X**2).sum()) / n_columns or 1.0  # of rows that do not differ nothing is learned
    if n_rows < n_columns:
        W: Float = X.T @ np.linalg.solve(X @ X.T + penalty * np.eye(n_rows), targets)
        return W
    return np.asarray(np.linalg.solve(X.T @ X + penalty * np.eye(n_columns), X.T @ targets), dtype=np.float64)


def per_deviation(variance: Float) -> Float:
    """What standardizes columns of these variances; 0 for constant ones."""
    deviation = np.sqrt(variance)
    return np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)


def unit_shares(per_column: Float, unit: Int) -> Float:
    """Sums over the columns of each unit, as shares of all."""
    sums = _by_unit(per_column, unit)
    return sums / max(float(sums.sum()), np.finfo(np.float64).tiny)


def _by_unit(per_column: Float, unit: Int) -> Float:
    """Sums over the columns (first axis) of each unit."""
    n_units = int(unit.max()) + 1
    if n_units == len(unit):  # every column is a unit, in order
        return per_column
    sums = np.zeros((n_units, *per_column.shape[1:]))
    np.add.at(sums, unit, per_column)
    return sums

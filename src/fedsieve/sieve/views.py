"""Three views of which features matter; each sees what the others miss, and what all of them see is robust.

- together: features taken so that their kernel aligns with the labels that a ridge regression, fitted on the labeled
  rows, predicts for all rows of the federation: relevant and unlike each other.
- alone: the coefficients of that regression on standardized columns: what nothing else can tell.
- trees: what randomized trees split the labeled rows by: not linear. It counts for half.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.scaling import column_means
from fedsieve.ordering import best_of, default_n_features, places, ranked, rounded

WEIGHTS = {"together": 0.25, "alone": 0.25, "trees": 0.5}
"""The views, and how much each of them counts."""
QUICK_SHARE = 4  # bootstraps and folds grow one tree where the ranking itself grows so many
DECIMALS = 12  # of a score


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
        rank = places(order).astype(np.float64)
        m = default_n_features(len(order))
        return cls(relevance, rank, m / (m + rank))


class FeatureViews:
    """What the federation told of its columns, ready to be combined with labeled rows, again and again.

    `covariance` is that of all rows' encoded columns, `unit` the unit of each column; `likeness` (n_units, n_units) has
    the sums of squared covariances between the columns of two units, the inner products of their linear kernels.
    `shift`, (n_columns, n_labels), is what is known of the covariances with the predicted labels beyond `covariance`.
    """

    def __init__(
        self, covariance: Float, unit: Int, *, ridge: float, n_trees: int, seed: int, shift: Float | None = None
    ) -> None:
        self._shift = shift
        self.likeness = _by_unit(_by_unit(covariance**2, unit).T, unit)
        self._covariance, self._unit = covariance, unit
        self._ridge, self._n_trees, self._seed = ridge, n_trees, seed
        self._per_deviation = per_deviation(np.diagonal(covariance))

    @property
    def n_units(self) -> int:
        """How many units are compared."""
        return len(self.likeness)

    def of(self, X: Float, Y: Float, weights: Float | None = None) -> dict[str, View]:
        """All views of labeled rows in encoded columns."""
        return self._views(self.relevances(X, Y, weights))

    def quick_order(self, X: Float, Y: Float, weights: Float | None = None) -> Int:
        """The units, best first, as some labeled rows show them; with fewer trees, since it is done many times."""
        return self.best_first(fused(self._views(self.relevances(X, Y, weights, quick=True))))

    def best_first(self, score: Float) -> Int:
        """Units by descending score, those without variance last."""
        return ranked(score, decimals=DECIMALS, last=np.diagonal(self.likeness) <= 0)

    def relevances(self, X: Float, Y: Float, weights: Float | None = None, *, quick: bool = False) -> dict[str, Float]:
        """Per view the relevance of each unit, not yet as shares: comparable between labels of the same rows."""
        coefficients = label_model(X, Y, self._ridge, weights, self._per_deviation)
        n_trees = -(-self._n_trees // QUICK_SHARE) if quick else self._n_trees
        per_column = {
            "together": (self._predicted(X, Y, weights) ** 2).sum(axis=1),
            "alone": (coefficients**2).sum(axis=1),
            "trees": kernels.tree_importances(X, Y, n_trees, self._seed, weights),
        }
        return {name: _by_unit(values, self._unit) for name, values in per_column.items()}

    def per_label(self, X: Float, Y: Float, weights: Float | None = None) -> Float:
        """How each unit goes with each label over all rows, (n_labels, n_units); see `label_correlations`."""
        return label_correlations(self._predicted(X, Y, weights), self._per_deviation, self._unit, Y, weights)

    def _predicted(self, X: Float, Y: Float, weights: Float | None) -> Float:
        """The covariances of all rows' columns with the labels that the labeled rows predict for them."""
        predicted: Float = self._covariance @ label_model(X, Y, self._ridge, weights)
        return predicted if self._shift is None else predicted + self._shift[:, label_varies(Y)]

    def _views(self, relevances: dict[str, Float]) -> dict[str, View]:
        shares = {name: as_shares(values) for name, values in relevances.items()}
        return {
            "together": View.by_order(shares["together"], greedy_alignment(shares["together"], self.likeness)),
            "alone": View.by_relevance(shares["alone"]),
            "trees": View.by_relevance(shares["trees"]),
        }


def fused(views: dict[str, View]) -> Float:
    """One score per unit, in [0, 1]: the weighted mean of what it is worth to the views."""
    score: Float = np.sum([WEIGHTS[name] * view.worth for name, view in views.items()], axis=0)
    return score


def mean_relevance(views: dict[str, View]) -> Float:
    """One relevance per unit, adding up to 1."""
    relevance: Float = np.sum([WEIGHTS[name] * view.relevance for name, view in views.items()], axis=0)
    return relevance


def label_targets(Y: Float) -> Float:
    """Labels centered and scaled to unit length, so that rare labels count like frequent ones; constants left out.

    >>> label_targets(np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([[ 0.70710678],
           [-0.70710678]])
    """
    centered = Y - Y.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    varies = label_varies(Y)
    targets: Float = centered[:, varies] / length[varies]
    return targets


def label_varies(Y: Float) -> Bool:
    """Which labels some rows have and others have not; unknown ones (NaN) are neither."""
    varies: Bool = (Y == 1).any(axis=0) & (Y == 0).any(axis=0)
    return varies


def label_model(X: Float, Y: Float, ridge: float, weights: Float | None = None, scale: Float | float = 1.0) -> Float:
    """Ridge coefficients (n_columns, n_targets) of the labels that vary, on the columns of X times `scale`.

    A label is learned from the rows in which it is known. With w the weights of these rows and n_l their sum, of n,

        √(n_l / n) (ZᵀZ + penalty I)⁻¹ Zᵀ t,   z = √w (x - mean of x),   t = √w (y - mean of y) of unit length,

    means being weighted; the root makes labels that are known in few rows count like all others.
    """
    known = ~np.isnan(Y)
    if weights is None and known.all():
        return ridge_regression((X - column_means(X)) * scale, label_targets(Y), ridge)
    w: Float = np.ones(len(X)) if weights is None else weights
    varies = label_varies(Y)
    labels, patterns = Y[:, varies], known[:, varies]
    model = np.zeros((X.shape[1], labels.shape[1]))
    distinct, pattern_of = np.unique(patterns, axis=1, return_inverse=True)
    for number, here in enumerate(distinct.T):
        members = np.flatnonzero(pattern_of.ravel() == number)
        rows, share = w[here], np.sqrt(w[here].sum() / w.sum())
        Z = _weighted_deviations(X[here], rows) * scale
        T = _weighted_deviations(labels[np.ix_(here, members)], rows)
        model[:, members] = share * ridge_regression(Z, T / np.sqrt((T**2).sum(axis=0)), ridge)
    return model


def _weighted_deviations(table: Float, weights: Float) -> Float:
    """√w (x - weighted mean of x); of a constant column exactly 0."""
    mean = np.where(np.ptp(table, axis=0) > 0, weights @ table / weights.sum(), table[0])
    deviations: Float = np.sqrt(weights)[:, None] * (table - mean)
    return deviations


def ridge_regression(X: Float, targets: Float, strength: float) -> Float:
    """Coefficients (n_columns, n_targets) of centered rows; the penalty is in units of the mean column's squares."""
    n_rows, n_columns = X.shape
    penalty = strength * float((X**2).sum()) / n_columns or 1.0  # rows that do not differ teach nothing
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
    return as_shares(_by_unit(per_column, unit))


def as_shares(sums: Float) -> Float:
    """Parts of a whole of 1."""
    return sums / max(float(sums.sum()), np.finfo(np.float64).tiny)


def label_correlations(
    predicted: Float, per_deviation: Float, unit: Int, Y: Float, weights: Float | None = None
) -> Float:
    """How strongly units go with labels over all rows, (n_labels, n_units) in [0, 1]; NaN for constant labels.

    `predicted` are the covariances of all rows' columns with the predicted labels. Those have the scale of
    `label_model`, of deviation 1 / √n on the n labeled rows, n being the sum of their weights, so that
    |predicted| √n / deviation is the absolute correlation of column and label that the regression expects over all
    rows. A unit has that of its strongest column.
    """
    n = len(Y) if weights is None else float(weights.sum())
    strength = np.minimum(np.abs(predicted) * np.sqrt(n) * per_deviation[:, None], 1.0)
    strongest = np.zeros((int(unit.max()) + 1, strength.shape[1]))
    np.maximum.at(strongest, unit, strength)
    found = np.full((Y.shape[1], len(strongest)), np.nan)
    found[label_varies(Y)] = strongest.T
    return found


def _by_unit(per_column: Float, unit: Int) -> Float:
    """Sums over the columns (first axis) of each unit."""
    n_units = int(unit.max()) + 1
    if n_units == len(unit):  # every column is a unit, in order
        return per_column
    sums = np.zeros((n_units, *per_column.shape[1:]))
    np.add.at(sums, unit, per_column)
    return sums


def greedy_alignment(relevance: Float, likeness: Float) -> Int:
    """All features, in the order in which each next one makes Σ_p b_p / √(Σ_pq G_pq) over the taken ones largest.

    With b_p = ‖cov(x_p, labels)‖² and G_pq = cov(x_p, x_q)² this is the alignment (the cosine) of the linear kernels of
    the taken features and of the labels. Ties go to the smaller index; features without variance come last.

    >>> G = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> greedy_alignment(np.array([1.0, 0.9, 0.8]), G)  # the second is much like the first
    array([0, 2, 1])
    """
    own = np.diagonal(likeness)
    varying = own > 0
    left, order = varying.copy(), np.empty(len(relevance), dtype=np.int64)
    n_varying = int(varying.sum())
    gained, spent, shared = 0.0, 0.0, np.zeros(len(relevance))
    for place in range(n_varying):
        alignment = np.zeros(len(relevance))
        alignment[left] = (gained + relevance[left]) / np.sqrt(spent + 2 * shared[left] + own[left])
        taken = best_of(left, alignment)
        order[place] = taken
        left[taken] = False
        gained += relevance[taken]
        spent += 2 * shared[taken] + own[taken]
        shared += likeness[:, taken]
    order[n_varying:] = np.flatnonzero(~varying)
    return order


def mean_ranks(scores: Float) -> Float:
    """The rank of each score, 0 for the largest; equal ones share the mean of their ranks.

    >>> mean_ranks(np.array([0.2, 0.5, 0.2, 0.0]))
    array([1.5, 0. , 1.5, 3. ])
    """
    _, place, counts = np.unique(-rounded(scores), return_inverse=True, return_counts=True)
    ranks: Float = np.cumsum(counts) - (counts + 1) / 2
    return ranks[place.ravel()]

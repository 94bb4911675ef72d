"""The linear model of the labels: a ridge regression on the labeled rows, and how strong its penalty should be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.scaling import column_means
from fedsieve.ordering import rounded

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)
"""The penalties tried, in units of a column's mean square."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Labels that are known in the same rows: √w (z - mean), √w (y - mean) of unit length, and the weights w."""

    labels: Int  # which of those that vary
    Z: Float
    T: Float
    weights: Float
    share: float  # of all rows, by weight


def label_varies(Y: Float) -> Bool:
    """Which labels some rows have and others have not; unknown ones (NaN) are neither."""
    varies: Bool = (Y == 1).any(axis=0) & (Y == 0).any(axis=0)
    return varies


def label_says(Y: Float, weights: Float | None = None) -> Float:
    """How much each label that varies counts: the root of its deviation where it is known, of length 1 together.

    Half way between labels as they are, of which rare ones say nothing, and labels that all count alike.

    >>> label_says(np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([1.])
    """
    labels, w = Y[:, label_varies(Y)], np.ones(len(Y)) if weights is None else weights
    known = ~np.isnan(labels) * w[:, None]
    share = (known * np.nan_to_num(labels)).sum(axis=0) / known.sum(axis=0)
    say: Float = (share * (1 - share)) ** 0.25
    return say / max(float(np.sqrt((say**2).sum())), np.finfo(np.float64).tiny)


def label_model(X: Float, Y: Float, ridge: float, weights: Float | None = None, scale: Float | float = 1.0) -> Float:
    """Ridge coefficients (n_columns, n_targets) of the labels that vary, on the columns of X times `scale`.

    A label is learned from the rows in which it is known. With w the weights of these rows and n_l their sum, of n,

        √(n_l / n) (ZᵀZ + penalty I)⁻¹ Zᵀ t,   z = √w (x - mean of x),   t = √w (y - mean of y) of unit length,

    means being weighted; the root makes labels that are known in few rows count like all others.
    """
    model = np.zeros((X.shape[1], int(label_varies(Y).sum())))
    for part in _parts(X, Y, weights, scale):
        model[:, part.labels] = part.share**0.5 * ridge_regression(part.Z, part.T, ridge)
    return model


@dataclass(frozen=True)
class LeftOut:
    """The penalty whose model errs least on rows that it did not see, and what it explains of their labels, at most 1.

    Not above 0 is what the labels' means alone explain.
    """

    strength: float
    explained: float


def model_left_out(
    X: Float,
    Y: Float,
    weights: Float | None = None,
    scale: Float | float = 1.0,
    strengths: Sequence[float] = STRENGTHS,
) -> LeftOut:
    """The best of some penalties, in rising order, by leaving out each row in turn.

    With H the matrix that predicts the rows' labels from themselves, a row is missed by (t - H t) / (1 - h), h being
    its diagonal entry: all rows are left out by one decomposition. Labels count as `label_says`. Of a row that counts
    more than once, one copy is left out. Of equal errors the stronger penalty has the say.
    """
    errors, by_means, say = np.zeros(len(strengths)), 0.0, label_says(Y, weights)
    for part in _parts(X, Y, weights, scale):
        Z, T, w = part.Z, part.T, part.weights
        unit = float((Z**2).sum()) / Z.shape[1] or 1.0
        wide = len(Z) < Z.shape[1]
        values, directions = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
        values = np.maximum(values, 0.0)
        rows = directions * np.sqrt(values) if wide else Z @ directions
        products = rows.T @ T

        def missed(fitted: Float, own: Float, part: _Part = part) -> float:
            left_out = (part.T - fitted) / np.maximum(1 - own / np.maximum(part.weights, 1.0), 1e-9)[:, None]
            return float(((left_out * say[part.labels]) ** 2).sum())

        by_means += missed(np.zeros_like(T), w / w.sum())
        for number, strength in enumerate(strengths):
            shrunken = 1.0 / (values + strength * unit)
            fitted = rows @ (shrunken[:, None] * products)
            errors[number] += missed(fitted, (rows**2) @ shrunken + w / w.sum())
    best = len(strengths) - 1 - int(np.argmin(rounded(errors)[::-1]))
    explained = 1 - errors[best] / by_means if by_means > 0 else 0.0
    return LeftOut(strengths[best], float(explained))


def ridge_regression(X: Float, targets: Float, strength: float) -> Float:
    """Coefficients (n_columns, n_targets) of centered rows; the penalty is in units of the mean column's squares."""
    n_rows, n_columns = X.shape
    penalty = strength * float((X**2).sum()) / n_columns or 1.0  # rows that do not differ teach nothing
    if n_rows < n_columns:
        W: Float = X.T @ np.linalg.solve(X @ X.T + penalty * np.eye(n_rows), targets)
        return W
    return np.asarray(np.linalg.solve(X.T @ X + penalty * np.eye(n_columns), X.T @ targets), dtype=np.float64)


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


def _parts(X: Float, Y: Float, weights: Float | None, scale: Float | float) -> Iterator[_Part]:
    """The labels that vary, by the rows in which they are known."""
    labels = Y[:, label_varies(Y)]
    known = ~np.isnan(labels)
    w: Float = np.ones(len(X)) if weights is None else weights
    if weights is None and known.all():
        yield _Part(np.arange(labels.shape[1]), (X - column_means(X)) * scale, _of_length_1(labels, None), w, 1.0)
        return
    distinct, pattern_of = np.unique(known, axis=1, return_inverse=True)
    for number, here in enumerate(distinct.T):
        members, rows = np.flatnonzero(pattern_of.ravel() == number), w[here]
        T = _of_length_1(labels[np.ix_(here, members)], rows)
        yield _Part(members, _weighted_deviations(X[here], rows) * scale, T, rows, float(rows.sum() / w.sum()))


def _of_length_1(labels: Float, weights: Float | None) -> Float:
    """Labels from their means, so that rare ones and frequent ones have the same length."""
    centered = labels - labels.mean(axis=0) if weights is None else _weighted_deviations(labels, weights)
    targets: Float = centered / np.sqrt((centered**2).sum(axis=0))
    return targets


def _weighted_deviations(table: Float, weights: Float) -> Float:
    """√w (x - weighted mean of x); of a constant column exactly 0."""
    mean = np.where(np.ptp(table, axis=0) > 0, weights @ table / weights.sum(), table[0])
    deviations: Float = np.sqrt(weights)[:, None] * (table - mean)
    return deviations

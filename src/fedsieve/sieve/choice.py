"""How many units to select: the fewest that are as good as the best number, judged on hidden labeled rows."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import DataError
from fedsieve.measures.label_ranking import row_ranking_losses
from fedsieve.ordering import ranked, rounded
from fedsieve.sieve.streams import Stream
from fedsieve.sieve.views import FeatureViews

N_FOLDS, N_REPEATS = 5, 3
N_SIZES = 20
MIN_ROWS = 2 * N_FOLDS
N_NEIGHBORS = 10
DECIMALS = 9  # of losses and distances: what differs less is equal


@dataclass(frozen=True, eq=False)
class Choice:
    """The number chosen; per number tried, the mean ranking loss, and the error of its difference from the lowest."""

    k: int
    sizes: Int
    loss: Float
    error: Float


def chosen_size(views: FeatureViews, X: Float, Y: Float, unit: Int, seed: int, weights: Float | None = None) -> Choice:
    """Repeated cross-validation with the one-standard-error rule.

    In each fold the units are ranked from the other folds' labels, and the nearest of the other folds' rows in the best
    k units rank the hidden rows' labels. The choice is the smallest k whose mean loss is at most one standard error
    above the lowest. All k are judged on the same rows, so that this is the error of a mean difference over rows. Rows
    are judged if all their labels are known; with weights, means over rows are weighted.
    """
    rankable = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])  # false where a label is NaN
    if rankable.sum() < MIN_ROWS:
        raise DataError(
            f'Sieve: n_features_to_select="auto" needs at least {MIN_ROWS} labeled rows with some but not all labels; '
            f"there are {int(rankable.sum())}. Give a number of features instead."
        )
    sizes = np.unique(np.round(np.geomspace(1, views.n_units, N_SIZES))).astype(np.int64)
    losses = np.zeros((len(X), len(sizes)))
    for repeat in range(N_REPEATS):
        shuffled = Stream.CHOICE.rng(seed, repeat).permutation(len(X))
        for number in range(N_FOLDS):
            hidden = np.isin(np.arange(len(X)), shuffled[number::N_FOLDS])
            losses[hidden] += _losses(views, X, Y, unit, sizes, hidden, weights) / N_REPEATS
    judged = losses[rankable]
    w = None if weights is None else weights[rankable]
    loss = np.average(judged, axis=0, weights=w)
    best = int(np.argmin(rounded(loss, DECIMALS)))
    error = _error_of_mean(judged - judged[:, [best]], w)
    good_enough = rounded(loss - loss[best] - error, DECIMALS) <= 0
    return Choice(int(sizes[np.flatnonzero(good_enough)[0]]), sizes, loss, error)


def _error_of_mean(values: Float, weights: Float | None) -> Float:
    """The standard error of the mean over rows, of each column."""
    n_rows = len(values)
    if weights is None:
        return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n_rows))
    shares = (weights / weights.sum())[:, None]
    squares = (shares * (values - (shares * values).sum(axis=0))) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=0) * n_rows / (n_rows - 1)))


def _losses(
    views: FeatureViews, X: Float, Y: Float, unit: Int, sizes: Int, hidden: Bool, weights: Float | None
) -> Float:
    """The ranking loss of each hidden row for each size, (n_hidden, n_sizes)."""
    order = views.quick_order(X[~hidden], Y[~hidden], None if weights is None else weights[~hidden])
    labels = Y[~hidden]
    usual = np.nansum(labels, axis=0) / np.maximum((~np.isnan(labels)).sum(axis=0), 1)
    taught = np.where(np.isnan(labels), usual, labels)  # an unknown label tells what is usual
    losses = []
    for size in sizes:
        chosen = np.isin(unit, order[:size])
        scores = _neighbor_shares(X[~hidden][:, chosen], taught, X[hidden][:, chosen])
        losses.append(row_ranking_losses(Y[hidden] == 1, scores))
    return np.column_stack(losses)


def _neighbor_shares(taught: Float, labels: Float, asked: Float) -> Float:
    """How often the nearest taught rows have each label; what is as frequent there is ranked by how frequent it is."""
    n_neighbors = min(N_NEIGHBORS, len(taught))
    distance = (asked**2).sum(axis=1)[:, None] - 2 * asked @ taught.T + (taught**2).sum(axis=1)
    nearest = ranked(-distance, decimals=DECIMALS)[:, :n_neighbors]
    shares: Float = (labels[nearest].sum(axis=1) + labels.mean(axis=0)) / (n_neighbors + 1)
    return shares

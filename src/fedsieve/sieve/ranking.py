"""From covariances and labeled rows to ranked units: their score and order, how many to select, and the reasons."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.ordering import rounded
from fedsieve.sieve.chance import chance_band
from fedsieve.sieve.choice import Choice, chosen_size
from fedsieve.sieve.complementary_pairs import PairStability, pair_stability
from fedsieve.sieve.streams import Stream
from fedsieve.sieve.views import FeatureView, FeatureViews, per_deviation

DECIMALS = 10  # of a likeness: of what is not correlated at all, a partition leaves 1e-17


@dataclass(frozen=True, eq=False)
class UnitRanking:
    """What was found of each unit (a feature, or a group of features that are selected together)."""

    score: Float
    order: Int  # best first
    relevance: Float  # adds up to 1
    views: dict[str, FeatureView]
    k: int  # how many to select
    choice: Choice | None  # how that number was chosen, where it was
    redundancy: Float  # with the chosen unit most like it
    redundant_with: Int  # which one that is; -1 where there is none
    alike: Float  # (k, k), how like the chosen units are to each other, best first
    n_best: int  # whose stability is looked at: the best by score
    per_label: Float  # (n_labels, n_units), how strongly it goes with each label
    # These are found when they are first asked for: they take longer than the ranking itself.
    orders: Callable[[], Int]  # (n_bootstraps, n_units), best first in each bootstrap
    chance: Callable[[], Float]  # the score that chance would hardly give it
    halves: Callable[[], PairStability]  # how often halves of the rows choose it

    @property
    def stability(self) -> Float:
        """Share of bootstraps in which it is chosen; NaN without any."""
        return stability(self.orders(), self.n_best)


def rank_units(
    blend: type[FeatureViews],
    covariance: Float,
    unit: Int,
    X: Float,
    Y: Float,
    k: int | None,
    *,
    ridge: float | None,
    n_trees: int,
    n_bootstraps: int,
    seed: int,
    shift: Float | None = None,
    weights: Float | None = None,
    first: Bool | None = None,
    say: Mapping[str, float] | None = None,
) -> UnitRanking:
    """Rank units from the covariance of all rows' columns and labeled rows X, Y of the same columns.

    `unit` is the unit of each column. `k` is how many to select; `None` lets the labeled rows decide. Where the penalty
    `ridge` is None it is chosen once, for all labeled rows, as is how much each view counts. Where columns were
    screened that is known, as `say`: of those kept for the labels' sake, rows left out tell too much. `shift`
    is what is known of the covariances with the predicted labels beyond `covariance`. `weights` are those of the
    labeled rows; unknown labels are NaN. Units that are `first` are those selected, whatever their score; how stable
    the choice is, is still that of the best `k`.
    """
    tuning = blend.tuning(X, Y, weights, per_deviation(np.diagonal(covariance)), ridge)
    if say is not None:
        tuning = replace(tuning, say=say)
    looks = blend(covariance, unit, tuning=tuning, n_trees=n_trees, seed=seed, shift=shift)
    views = looks.of(X, Y, weights)
    score = looks.fused(views)
    order = looks.best_first(score)
    choice = chosen_size(looks, X, Y, unit, seed, weights) if k is None else None
    n_selected = n_best = choice.k if choice is not None else k
    assert n_selected is not None
    assert n_best is not None
    if first is not None:
        order, n_selected = np.concatenate([order[first[order]], order[~first[order]]]), int(first.sum())
    chosen = np.isin(np.arange(len(order)), order[:n_selected])
    alike, nearest = redundancy(looks.likeness, chosen)
    return UnitRanking(
        score,
        order,
        looks.mean_relevance(views),
        views,
        n_selected,
        choice,
        alike,
        nearest,
        alikeness(looks.likeness, order[:n_selected]),
        n_best,
        looks.per_label(X, Y, weights),
        cache(lambda: bootstrap_orders(looks, X, Y, n_bootstraps, seed, weights)),
        cache(lambda: chance_band(looks, X, Y, seed, weights)),
        cache(lambda: pair_stability(looks, X, Y, n_best, seed, weights)),
    )


def redundancy(likeness: Float, chosen: Bool) -> tuple[Float, Int]:
    """How like each unit is, in [0, 1], to the chosen unit most like it, and which that is; 0 and -1 for none.

    Of two single columns this is the absolute correlation; of groups the square root of the RV coefficient.
    """
    units, among = np.arange(len(likeness)), np.flatnonzero(chosen)
    if not len(among):
        return np.zeros(len(units)), np.full(len(units), -1)
    cosine = _cosines(likeness, among)
    cosine[among, np.arange(len(among))] = 0.0
    close = rounded(cosine, DECIMALS)
    nearest = np.argmax(close, axis=1)
    like = close[units, nearest] > 0
    return np.where(like, np.sqrt(cosine[units, nearest]), 0.0), np.where(like, among[nearest], -1)


def alikeness(likeness: Float, units: Int) -> Float:
    """How like some units are to each other, as `redundancy` measures it; 1 on the diagonal."""
    alike: Float = np.sqrt(_cosines(likeness, units)[units])
    np.fill_diagonal(alike, 1.0)
    return alike


def _cosines(likeness: Float, among: Int) -> Float:
    """Of all units with some of them."""
    length = np.sqrt(np.diagonal(likeness))
    per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    cosine: Float = np.clip(likeness[:, among] * per_length[:, None] * per_length[among], 0.0, 1.0)
    return cosine


def bootstrap_orders(
    views: FeatureViews, X: Float, Y: Float, n_bootstraps: int, seed: int, weights: Float | None = None
) -> Int:
    """The units, best first, in each bootstrap of the labeled rows, (n_bootstraps, n_units).

    A bootstrap has as many rows as there are, each drawn in proportion to its weight.
    """
    orders = np.empty((n_bootstraps, views.n_units), dtype=np.int64)
    for number in range(n_bootstraps):
        rng = Stream.BOOTSTRAPS.rng(seed, number)
        if weights is None:
            rows = rng.integers(0, len(X), len(X))
        else:
            rows = rng.choice(len(X), len(X), p=weights / weights.sum())
        orders[number] = views.quick_order(X[rows], Y[rows])
    return orders


def stability(orders: Int, k: int) -> Float:
    """The share of orders in which a unit is among the first k; NaN without any.

    >>> stability(np.array([[0, 1, 2], [1, 0, 2]]), k=1)
    array([0.5, 0.5, 0. ])
    """
    n_orders, n_units = orders.shape
    if not n_orders:
        return np.full(n_units, np.nan)
    times: Float = np.bincount(orders[:, :k].ravel(), minlength=n_units) / n_orders
    return times

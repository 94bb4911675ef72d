"""From covariances and labeled rows to ranked units: their score and order, how many to select, and the reasons."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.ordering import rounded
from fedsieve.sieve.chance import chance_band
from fedsieve.sieve.choice import Choice, chosen_size
from fedsieve.sieve.views import FeatureViews, View, fused, mean_relevance

DECIMALS = 10  # of a likeness: of what is not correlated at all, a partition leaves 1e-17


@dataclass(frozen=True, eq=False)
class UnitRanking:
    """What was found of each unit (a feature, or a group of features that are selected together)."""

    score: Float
    order: Int  # best first
    relevance: Float  # adds up to 1
    views: dict[str, View]
    k: int  # how many to select
    choice: Choice | None  # how that number was chosen, where it was
    redundancy: Float  # with the chosen unit most like it
    redundant_with: Int  # which one that is; -1 where there is none
    stability: Float  # share of bootstraps in which it is chosen; NaN without any
    orders: Int  # (n_bootstraps, n_units), best first in each bootstrap
    per_label: Float  # (n_labels, n_units), how strongly it goes with each label
    chance: Callable[[], Float]  # the score that chance would hardly give it; found when it is first asked for


def rank_units(
    covariance: Float,
    unit: Int,
    X: Float,
    Y: Float,
    k: int | None,
    *,
    ridge: float,
    n_trees: int,
    n_bootstraps: int,
    seed: int,
    shift: Float | None = None,
    weights: Float | None = None,
) -> UnitRanking:
    """Rank units from the covariance of all rows' columns and labeled rows X, Y of the same columns.

    `unit` is the unit of each column. `k` is how many to select; `None` lets the labeled rows decide. `shift` is what
    is known of the covariances with the predicted labels beyond `covariance`. `weights` are those of the labeled rows;
    unknown labels are NaN.
    """
    looks = FeatureViews(covariance, unit, ridge=ridge, n_trees=n_trees, seed=seed, shift=shift)
    views = looks.of(X, Y, weights)
    score = fused(views)
    order = looks.best_first(score)
    choice = chosen_size(looks, X, Y, unit, seed, weights) if k is None else None
    n_selected = choice.k if choice is not None else k
    assert n_selected is not None
    chosen = np.isin(np.arange(len(order)), order[:n_selected])
    alike, nearest = redundancy(looks.likeness, chosen)
    orders = bootstrap_orders(looks, X, Y, n_bootstraps, seed, weights)
    return UnitRanking(
        score,
        order,
        mean_relevance(views),
        views,
        n_selected,
        choice,
        alike,
        nearest,
        stability(orders, n_selected),
        orders,
        looks.per_label(X, Y, weights),
        cache(lambda: chance_band(looks, X, Y, seed, weights)),
    )


def redundancy(likeness: Float, chosen: Bool) -> tuple[Float, Int]:
    """How like each unit is, in [0, 1], to the chosen unit most like it, and which that is; 0 and -1 for none.

    Of two single columns this is the absolute correlation; of groups the square root of the RV coefficient.
    """
    length = np.sqrt(np.diagonal(likeness))
    per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    cosine = np.clip(likeness * per_length[:, None] * per_length, 0.0, 1.0)
    np.fill_diagonal(cosine, 0.0)
    cosine[:, ~chosen] = 0.0
    units, close = np.arange(len(cosine)), rounded(cosine, DECIMALS)
    nearest = np.argmax(close, axis=1)
    like = close[units, nearest] > 0
    return np.where(like, np.sqrt(cosine[units, nearest]), 0.0), np.where(like, nearest, -1)


def bootstrap_orders(
    views: FeatureViews, X: Float, Y: Float, n_bootstraps: int, seed: int, weights: Float | None = None
) -> Int:
    """The units, best first, in each bootstrap of the labeled rows, (n_bootstraps, n_units).

    A bootstrap has as many rows as there are, each drawn in proportion to its weight.
    """
    orders = np.empty((n_bootstraps, views.n_units), dtype=np.int64)
    for number in range(n_bootstraps):
        rng = np.random.default_rng([seed, 2, number])
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

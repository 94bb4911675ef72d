"""Tables too wide for a covariance matrix: one product with it ranks all units, and the most promising are kept."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.ordering import ranked
from fedsieve.sieve.label_model import label_correlations
from fedsieve.sieve.views import (
    DECIMALS,
    FeatureViews,
    Screened,
    Tuning,
    as_shares,
    by_unit,
    fused,
    mean_relevance,
    per_deviation,
)


@dataclass(frozen=True, eq=False)
class Screening:
    """Score and relevance of all units, and which of them go on to be compared with each other."""

    score: Float
    relevance: Float
    per_label: Float  # (n_labels, n_units), how strongly a unit goes with each label
    kept: Bool
    say: Mapping[str, float]  # how much each view counts


def screening_weights(
    blend: type[FeatureViews], table: Float, Y: Float, ridge: float | None, weights: Float | None = None
) -> tuple[Tuning, Float]:
    """The linear model of the labels, (n_columns, n_targets), whose product with the covariance is asked for.

    And what the labeled rows settle. Of the other rows nothing is known yet: columns are standardized by the labeled
    ones.
    """
    scale = per_deviation(_own_variance(table, weights))
    tuning = blend.tuning(table, Y, weights, scale, ridge)
    return tuning, blend.label_weights(table, Y, tuning.ridge, weights, scale)


def screen(
    blend: type[FeatureViews],
    table: Float,
    Y: Float,
    unit: Int,
    variance: Float,
    products: Float,
    n_columns: int,
    *,
    tuning: Tuning,
    n_trees: int,
    seed: int,
    weights: Float | None = None,
) -> Screening:
    """The views as far as they need no comparison of two columns; at most `n_columns` of all are kept.

    `variance` is that of all rows' columns, `products` their covariance times `screening_weights`. Relevant units are
    not yet told from copies of them.
    """
    scale = per_deviation(variance)
    trees = as_shares(by_unit(kernels.tree_importances(table, Y, n_trees, seed, weights), unit))
    views = blend.screened(Screened(table, Y, weights, unit, tuning.ridge, scale, products, trees))
    score, varies = fused(views, tuning), by_unit(variance, unit) > 0
    per_label = label_correlations(products, scale, unit, Y, weights)
    return Screening(score, mean_relevance(views, tuning), per_label, _kept(score, varies, unit, n_columns), tuning.say)


def _own_variance(table: Float, weights: Float | None) -> Float:
    """Of the labeled rows; exactly 0 for constant columns."""
    mean = np.average(table, axis=0, weights=weights)
    variance = np.average((table - mean) ** 2, axis=0, weights=weights)
    return np.where(np.ptp(table, axis=0) > 0, variance, 0.0)


def _kept(score: Float, varies: Bool, unit: Int, n_columns: int) -> Bool:
    """The best units that have together at most so many columns, one at least."""
    order = ranked(score, decimals=DECIMALS, last=~varies)
    width = np.bincount(unit)[order].cumsum()
    kept = np.zeros(len(score), dtype=bool)
    kept[order[: max(1, int((width <= n_columns).sum()))]] = True
    return kept

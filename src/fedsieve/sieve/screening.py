"""Tables too wide for a covariance matrix: one product with it ranks all units, and the most promising are kept."""

from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.ordering import ranked
from fedsieve.sieve.views import (
    DECIMALS,
    View,
    fused,
    label_correlations,
    label_model,
    mean_relevance,
    per_deviation,
    unit_shares,
)


@dataclass(frozen=True, eq=False)
class Screening:
    """Score and relevance of all units, and which of them go on to be compared with each other."""

    score: Float
    relevance: Float
    per_label: Float  # (n_labels, n_units), how strongly a unit goes with each label
    kept: Bool


def screening_weights(table: Float, Y: Float, ridge: float, weights: Float | None = None) -> Float:
    """The linear model of the labels, (n_columns, n_targets), whose product with the covariance is asked for."""
    return label_model(table, Y, ridge, weights)


def screen(
    table: Float,
    Y: Float,
    unit: Int,
    variance: Float,
    products: Float,
    n_columns: int,
    *,
    ridge: float,
    n_trees: int,
    seed: int,
    weights: Float | None = None,
) -> Screening:
    """The views as far as they need no comparison of two columns; at most `n_columns` of all are kept.

    `variance` is that of all rows' columns, `products` their covariance times `screening_weights`. Relevant units are
    not yet told from copies of them.
    """
    coefficients = label_model(table, Y, ridge, weights, per_deviation(variance))
    relevances = {
        "together": unit_shares((products**2).sum(axis=1), unit),
        "alone": unit_shares((coefficients**2).sum(axis=1), unit),
        "trees": unit_shares(kernels.tree_importances(table, Y, n_trees, seed, weights), unit),
    }
    views = {name: View.by_relevance(relevance) for name, relevance in relevances.items()}
    score = fused(views)
    varies = unit_shares(variance, unit) > 0
    per_label = label_correlations(products, per_deviation(variance), unit, Y, weights)
    return Screening(score, mean_relevance(views), per_label, _kept(score, varies, unit, n_columns))


def _kept(score: Float, varies: Bool, unit: Int, n_columns: int) -> Bool:
    """The best units that have together at most so many columns, one at least."""
    order = ranked(score, decimals=DECIMALS, last=~varies)
    width = np.bincount(unit)[order].cumsum()
    kept = np.zeros(len(score), dtype=bool)
    kept[order[: max(1, int((width <= n_columns).sum()))]] = True
    return kept

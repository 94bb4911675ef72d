"""Tables too wide for a covariance matrix: one round of products with it, and the units that promise most are kept."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.encoding import Encoding
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.scaled_answers import projections_of
from fedsieve.protocol.sieve.plan import SievePlan
from fedsieve.protocol.sieve.views import (
    View,
    fused,
    label_targets,
    mean_relevance,
    per_deviation,
    ridge_regression,
    unit_shares,
)


@dataclass(frozen=True, eq=False)
class Screening:
    """Score and relevance of all units, and which of them go on to be compared with each other."""

    score: Float
    relevance: Float
    kept: Bool


def screened(
    plan: SievePlan, labeled: Labeled, cohort: Cohort, columns: m.Columns, encoding: Encoding
) -> Talk[Screening]:
    """The views as far as they need no comparison of two columns: relevant units are not yet told from copies of them.

    The covariance times the coefficients is asked of the sites; the matrix itself exists nowhere.
    """
    table, unit = encoding.table(labeled.X), plan.unit_of[encoding.owner]
    rows, targets = table - m.column_means(table), label_targets(labeled.Y)
    weights = ridge_regression(rows, targets, plan.ridge)
    request = m.AskProjections(columns, m.Scaling(encoding.low, encoding.high), weights)
    own = projections_of(labeled.X, request)
    pooled: m.Projections = reduce(add, (yield from cohort.ask(request)), own)

    standardized = rows * per_deviation(pooled.m2 / pooled.n_rows)
    coefficients = ridge_regression(standardized, targets, plan.ridge)
    relevances = {
        "together": unit_shares((pooled.products**2).sum(axis=1), unit),
        "alone": unit_shares((coefficients**2).sum(axis=1), unit),
        "trees": unit_shares(kernels.tree_importances(table, labeled.Y, plan.n_trees, plan.seed), unit),
    }
    views = {name: View.by_relevance(relevance) for name, relevance in relevances.items()}
    score = fused(views)
    varies = unit_shares(pooled.m2, unit) > 0
    return Screening(score, mean_relevance(views), _kept(score, varies, unit, plan.n_compared))


def _kept(score: Float, varies: Bool, unit: Int, n_columns: int) -> Bool:
    """The best units that have together at most so many columns, one at least."""
    order = np.lexsort((np.arange(len(score)), -np.round(score, 12), ~varies))
    width = np.bincount(unit)[order].cumsum()
    kept = np.zeros(len(score), dtype=bool)
    kept[order[: max(1, int((width <= n_columns).sum()))]] = True
    return kept

"""What Sieve found, per feature: score, order, how many, and the reasons."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.selection import Selection
from fedsieve.protocol.sieve.choice import Choice, chosen_size
from fedsieve.protocol.sieve.explanation import redundancy, stability
from fedsieve.protocol.sieve.plan import AUTO, SievePlan
from fedsieve.protocol.sieve.screening import Screening
from fedsieve.protocol.sieve.views import Sight, best_first, fused, mean_relevance


@dataclass(frozen=True, eq=False)
class SieveSelection(Selection):
    """Also the reasons, per feature; NaN (or -1) for features that were screened out before they were compared."""

    ranks: dict[str, Float]  # per view, 1 is best
    redundancy: Float  # with the chosen feature most like it
    redundant_with: Int  # which one that is; -1 where there is none
    stability: Float  # share of bootstraps in which it is chosen
    choice: Choice | None  # how the number of features was chosen, where it was

    def columns(self) -> dict[str, Float]:
        """With the reasons."""
        ranks = {f"rank_{name}": rank for name, rank in self.ranks.items()}
        return {**super().columns(), "redundancy": self.redundancy, "stability": self.stability, **ranks}

    def links(self) -> dict[str, Int]:
        """With what a feature is redundant with."""
        return {"redundant_with": self.redundant_with}

    def facts(self) -> dict[str, Any]:
        """With the losses by which the number of features was chosen."""
        if self.choice is None:
            return {}
        tried = zip(self.choice.sizes.tolist(), self.choice.loss.tolist(), self.choice.error.tolist(), strict=True)
        return {"sizes_tried": [{"k": k, "ranking_loss": loss, "error": error} for k, loss, error in tried]}


def found(
    plan: SievePlan,
    labeled: Labeled,
    covariance: Float,
    unit: Int,
    screening: Screening | None,
    n_rows: dict[str, int],
) -> SieveSelection:
    """From labeled rows and the covariance of encoded columns, each of a unit, to what was found of all features."""
    compared, unit_here = np.unique(unit, return_inverse=True)
    sight = Sight(covariance, unit_here, plan)
    views = sight.views(labeled.X, labeled.Y, plan.n_trees)
    score = fused(views)
    order = best_first(score, sight.likeness)
    choice = None
    if plan.n_features_to_select == AUTO:
        choice = chosen_size(sight, labeled.X, labeled.Y, unit_here, plan)
    k = plan.k if choice is None else choice.k
    chosen = np.isin(np.arange(len(order)), order[:k])
    alike, nearest = redundancy(sight.likeness, chosen)
    often = stability(sight, labeled.X, labeled.Y, k, plan)

    unit_of, n_units = plan.unit_of, plan.n_units
    first_feature = np.unique(unit_of, return_index=True)[1]

    def per_feature(values: Float, of_others: Float | float = np.nan) -> Float:
        whole = np.full(n_units, of_others)
        whole[compared] = values
        return whole[unit_of]

    scores = per_feature(score, 0.0 if screening is None else screening.score - 1.0)  # of others below 0
    relevance = mean_relevance(views) if screening is None else screening.relevance
    place = _places(compared[order], scores, unit_of, n_units)
    with_feature = np.where(nearest >= 0, first_feature[compared[nearest]], -1).astype(np.float64)
    return SieveSelection(
        scores,
        np.lexsort((np.arange(len(unit_of)), place)),
        relevance[unit_of],
        n_rows,
        {name: per_feature(view.rank + 1) for name, view in views.items()},
        per_feature(alike),
        per_feature(with_feature, -1).astype(np.int64),
        per_feature(often) if plan.n_bootstraps else np.full(len(unit_of), np.nan),
        choice,
        n_selected=int((place < k).sum()),
    )


def _places(compared_in_order: Int, scores: Float, unit_of: Int, n_units: int) -> Int:
    """Per feature the place of its unit: compared units in their order, then the others by score."""
    place = np.full(n_units, -1)
    place[compared_in_order] = np.arange(len(compared_in_order))
    others = np.flatnonzero(place < 0)
    score = np.zeros(n_units)
    score[unit_of] = scores
    place[others[np.lexsort((others, -np.round(score[others], 12)))]] = np.arange(len(compared_in_order), n_units)
    return place[unit_of]

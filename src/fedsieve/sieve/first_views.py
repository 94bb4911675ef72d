"""The blend of the first Sieve, to compare with: three views, each of which sees what the others miss.

- together: features taken so that their kernel aligns with the labels that a ridge regression, fitted on the labeled
  rows, predicts for all rows of the federation: relevant and unlike each other.
- alone: the coefficients of that regression on standardized columns: what nothing else can tell.
- trees: what randomized trees split the labeled rows by: not linear. It counts for half.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.ordering import best_of
from fedsieve.sieve.label_model import label_model
from fedsieve.sieve.views import (
    Evidence,
    FeatureView,
    FeatureViews,
    Screened,
    Tuning,
    as_shares,
    blended,
    by_unit,
    worth_by_place,
    worth_by_relevance,
)

RIDGE = 0.3
SAY = {"together": 0.25, "alone": 0.25, "trees": 0.5}
ROUNDING = 1e-10  # relative: alignments that differ less are equal, and equal ones go to chance


class FirstViews(FeatureViews):
    """Until version 2 the only ones."""

    @staticmethod
    def tuning(X: Float, Y: Float, weights: Float | None, scale: Float, ridge: float | None) -> Tuning:  # noqa: ARG004
        """Whatever the rows."""
        return Tuning(RIDGE if ridge is None else ridge, SAY)

    @staticmethod
    def label_weights(X: Float, Y: Float, ridge: float, weights: Float | None, scale: Float) -> Float:  # noqa: ARG004
        """Those of a ridge regression on the columns as they are."""
        return label_model(X, Y, ridge, weights)

    @classmethod
    def screened(cls, screened: Screened) -> dict[str, FeatureView]:
        """By relevance in all three."""
        coefficients = label_model(screened.X, screened.Y, screened.ridge, screened.weights, screened.scale)
        relevances = {
            "together": as_shares(by_unit((screened.products**2).sum(axis=1), screened.unit)),
            "alone": as_shares(by_unit((coefficients**2).sum(axis=1), screened.unit)),
            "trees": screened.trees,
        }
        return {name: FeatureView.by_relevance(relevance) for name, relevance in relevances.items()}

    def evidence(self, X: Float, Y: Float, weights: Float | None = None, *, quick: bool = False) -> Evidence:
        """The relevance of each unit, not yet as shares."""
        coefficients = label_model(X, Y, self._tuning.ridge, weights, self._per_deviation)
        return {
            "together": by_unit((self._predicted(X, Y, weights) ** 2).sum(axis=1), self._unit),
            "alone": by_unit((coefficients**2).sum(axis=1), self._unit),
            "trees": self._trees(X, Y, weights, quick=quick),
        }

    def seen(self, evidence: Evidence) -> dict[str, FeatureView]:
        """By the order of the alignment, by coefficients and by what trees use."""
        shares = {name: as_shares(values) for name, values in evidence.items()}
        return {
            "together": FeatureView.by_order(shares["together"], greedy_alignment(shares["together"], self.likeness)),
            "alone": FeatureView.by_relevance(shares["alone"]),
            "trees": FeatureView.by_relevance(shares["trees"]),
        }

    def by_chance(self, real: Evidence, drawn: list[Evidence]) -> Float:
        """With the place in the alignment that the relevance by chance gives."""
        chance = {name: np.array([one[name] for one in drawn]) for name in SAY}
        places = places_by_chance(real["together"], chance["together"], self.likeness)
        worth = {name: worth_by_relevance(chance[name], real[name]) for name in ("alone", "trees")}
        return blended({"together": worth_by_place(places.astype(np.float64), self.n_units), **worth}, self._tuning)


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


def places_by_chance(real: Float, chance: Float, likeness: Float) -> Int:
    """Where each unit would be taken by `greedy_alignment` with its relevance by chance, (n_draws, n_units).

    The others are taken in the order of the real ranking. The unit comes in front of the first one that makes the
    alignment no larger than it would itself.
    """
    own, order = np.diagonal(likeness), greedy_alignment(real, likeness)
    n_varying = int((own > 0).sum())
    place = np.where(own > 0, n_varying - 1, n_varying) * np.ones_like(chance, dtype=np.int64)
    waiting, taken = np.broadcast_to(own > 0, chance.shape).copy(), np.zeros(len(own), dtype=bool)
    gained, spent, shared = 0.0, 0.0, np.zeros(len(own))
    for number, other in enumerate(order[:n_varying]):
        # Of those taken before: without the unit there. Its norm is that of all taken, with its relevance by chance.
        gained_here = gained - np.where(taken, real, 0.0)
        norm_with_unit = np.where(taken, spent, spent + 2 * shared + own)
        spent_here = np.where(taken, spent - 2 * shared + own, spent)
        shared_here = shared[other] - np.where(taken, likeness[other], 0.0)
        norm_with_other = np.maximum(spent_here + 2 * shared_here + own[other], np.finfo(np.float64).tiny)
        of_other = (gained_here + real[other]) / np.sqrt(norm_with_other)
        of_unit = (gained_here + chance) / np.sqrt(np.maximum(norm_with_unit, np.finfo(np.float64).tiny))
        first = waiting & (of_unit >= of_other * (1 - ROUNDING))
        first[:, other] = False
        place[first] = np.broadcast_to(number - taken, chance.shape)[first]
        waiting &= ~first
        taken[other] = True
        gained += real[other]
        spent += 2 * shared[other] + own[other]
        shared = shared + likeness[:, other]
    return place

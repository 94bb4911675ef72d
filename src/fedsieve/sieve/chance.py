"""What chance gives: the score that each unit would have in this ranking if the labels had nothing to do with it.

Scores are relative to the best unit, so that there is always one near 1, whatever the labels. Labels dealt anew to the
labeled rows, whole rows of them with what is unknown there and with their weights, say how relevant a unit is by
accident. That is put on the scale of the real ranking: the score that a unit would have if it alone had its relevances
by chance, and all others their real ones.
"""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.ordering import default_n_features
from fedsieve.sieve.views import WEIGHTS, FeatureViews, greedy_alignment

N_PERMUTATIONS = 40
LEVEL = 0.95  # of them give a unit at most its band
ROUNDING = 1e-10  # relative: alignments that differ less are equal, and equal ones go to chance


def chance_band(views: FeatureViews, X: Float, Y: Float, seed: int, weights: Float | None = None) -> Float:
    """Per unit, the score that one in twenty permutations of the labels exceeds.

    A weight goes with its labels, so that these are as frequent by weight as they really are: weights are mostly there
    to balance labels.
    """
    real = views.relevances(X, Y, weights)
    dealt = [np.random.default_rng([seed, 3, number]).permutation(len(Y)) for number in range(N_PERMUTATIONS)]
    drawn = [views.relevances(X, Y[rows], None if weights is None else weights[rows], quick=True) for rows in dealt]
    chance = {name: np.array([relevances[name] for relevances in drawn]) for name in WEIGHTS}
    band: Float = np.quantile(scores_by_chance(real, chance, views.likeness), LEVEL, axis=0, method="higher")
    return band


def scores_by_chance(real: dict[str, Float], chance: dict[str, Float], likeness: Float) -> Float:
    """The score of each unit by chance (last axis), in each of several draws (first axis), in the real ranking."""
    m = default_n_features(len(likeness))
    worth = {"together": m / (m + places_by_chance(real["together"], chance["together"], likeness))}
    for name in ("alone", "trees"):
        worth[name] = np.sqrt(chance[name] / max(float(real[name].max()), np.finfo(np.float64).tiny))
    score: Float = np.sum([WEIGHTS[name] * worth[name] for name in WEIGHTS], axis=0)
    return score


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

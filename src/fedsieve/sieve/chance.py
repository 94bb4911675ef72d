"""What chance gives: the score that each unit would have in this ranking if the labels had nothing to do with it.

Scores are relative to the best unit, so that there is always one near 1, whatever the labels. Labels dealt anew to the
labeled rows, whole rows of them with what is unknown there and with their weights, say how relevant a unit is by
accident. That is put on the scale of the real ranking: the score that a unit would have if it alone had its relevances
by chance, and all others their real ones; at most 1, the largest score there is.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.sieve.streams import Stream
from fedsieve.sieve.views import FeatureViews

N_PERMUTATIONS = 40
LEVEL = 0.95  # of them give a unit at most its band


def chance_band(views: FeatureViews, X: Float, Y: Float, seed: int, weights: Float | None = None) -> Float:
    """Per unit, the score that one in twenty permutations of the labels exceeds.

    A weight goes with its labels, so that these are as frequent by weight as they really are: weights are mostly there
    to balance labels.
    """
    real = views.evidence(X, Y, weights)
    dealt = [Stream.CHANCE.rng(seed, number).permutation(len(Y)) for number in range(N_PERMUTATIONS)]
    drawn = [views.evidence(X, Y[rows], None if weights is None else weights[rows], quick=True) for rows in dealt]
    band: Float = np.quantile(views.by_chance(real, drawn), LEVEL, axis=0, method="higher")
    return np.minimum(band, 1.0)

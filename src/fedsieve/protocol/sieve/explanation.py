"""Why a unit is in or out: what it resembles among the chosen, and how often chance would have chosen it."""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.protocol.sieve.plan import SievePlan
from fedsieve.protocol.sieve.views import Sight


def redundancy(likeness: Float, chosen: Bool) -> tuple[Float, Int]:
    """How like each unit is, in [0, 1], to the chosen unit most like it, and which that is; 0 and -1 for none.

    Of two single columns this is the absolute correlation; of groups the square root of the RV coefficient.
    """
    length = np.sqrt(np.diagonal(likeness))
    per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    cosine = np.clip(likeness * per_length[:, None] * per_length, 0.0, 1.0)
    np.fill_diagonal(cosine, 0.0)
    cosine[:, ~chosen] = 0.0
    units, close = np.arange(len(cosine)), np.round(cosine, 10)
    nearest = np.argmax(close, axis=1)
    like = close[units, nearest] > 0  # after rounding: of what is not correlated at all, a partition leaves 1e-17
    return np.where(like, np.sqrt(cosine[units, nearest]), 0.0), np.where(like, nearest, -1)


def stability(sight: Sight, X: Float, Y: Float, k: int, plan: SievePlan) -> Float:
    """The share of bootstraps of the labeled rows in which a unit is among the first k."""
    times: Float = np.zeros(len(sight.likeness))
    for number in range(plan.n_bootstraps):
        rows = np.random.default_rng([plan.seed, 2, number]).integers(0, len(X), len(X))
        times[sight.glance(X[rows], Y[rows])[:k]] += 1
    return times / max(plan.n_bootstraps, 1)

"""How far a sample of rows or row pairs may have moved each score, and by how many places its rank: from sums alone.

Nobody is asked for more. What flows to feature p is Σ_b D_pb u_b, with u = G / deg; for one pair of rows
Σ_b abs(r_p - r_b) u_b lies in [0, U], U = Σ u_b. A number in [0, 1] of mean x has a variance of at most x (1 - x), so
the mean over m pairs has one of at most x (1 - x) / m; the mean over all pairs of m rows that were drawn, a
U-statistic, one of at most 2 x (1 - x) / m; and what is drawn in both steps, their sum. Sites whose distances count by
shares a_i, of which the largest that sampled has the share A, give at most A x (1 - x / Σ a_i) / m together, with the
total x alone. That the degrees moved too shifts all scores nearly alike and is left out; `docs/scaling.md` has how
often ranks were as certain as said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.fuzzy.graph import PageRank

N_ERRORS = 2.0  # standard errors within which two scores cannot be told apart


@dataclass(frozen=True)
class Sampled:
    """What is known of the samples: the largest share of a site that drew one, all shares, the pairs they equal."""

    largest: float
    in_all: float
    n_pairs: float

    def errors(self, found: PageRank, weights: Float, damping: float) -> Float:
        """The standard error of each score, at most."""
        if not damping or not found.flow:
            return np.zeros(len(weights))
        inflow = (found.scores - (1 - damping) * weights) / damping
        x = np.clip(inflow / found.flow, 0.0, self.in_all)
        variance = self.largest * x * (1 - x / self.in_all) / self.n_pairs
        errors: Float = damping * found.flow * np.sqrt(variance)
        return errors


def sampled(
    shares: Mapping[str, float] | None,
    n_rows: Mapping[str, int],
    n_compared: Mapping[str, int],
    max_pairs: int,
    n_sites: int,
) -> Sampled | None:
    """What the sites drew, whose distances count by `shares`; `None` where nobody can have drawn any.

    `shares` is `None` where only a total is seen; `n_compared` are the rows that are compared at least; `n_sites` are
    those that one client may stand for.
    """

    def part_of_variance(name: str) -> float:
        """What is left of the variance of one pair in the mean over those that were looked at."""
        of_rows = 2 / n_compared[name] if n_compared[name] < n_rows[name] else 0.0
        if kernels.all_pairs(n_compared[name]) <= max_pairs:
            return of_rows
        # Of several sites behind one client each has its own number of pairs: at least half of what it may have.
        alone = n_sites == 1 and shares is not None
        return of_rows + 1 / (kernels.pairs_looked_at(n_compared[name], max_pairs) if alone else max_pairs / 2)

    drew = {name: part for name in n_rows if (part := part_of_variance(name))}
    if not drew:
        return None
    n_pairs = 1 / max(drew.values())
    if shares is None:
        return Sampled(1.0, 1.0, n_pairs)
    return Sampled(max(shares[name] for name in drew), sum(shares.values()), n_pairs)


def certain_places(scores: Float, errors: Float) -> Int:
    """By how many places each rank may be off: the features whose scores cannot be told from its own, on either side.

    >>> certain_places(np.array([3.0, 2.0, 1.9, 0.5]), np.array([0.1, 0.1, 0.1, 0.1]))
    array([0, 1, 1, 0])
    """
    low, high = scores - N_ERRORS * errors, scores + N_ERRORS * errors
    above = np.searchsorted(np.sort(low), high, side="right") - np.searchsorted(np.sort(scores), scores, side="right")
    below = np.searchsorted(np.sort(scores), scores, side="left") - np.searchsorted(np.sort(high), low, side="left")
    places: Int = np.maximum(above, below)
    return places


def certain_words(names: Sequence[str], places: Int) -> dict[str, str]:
    """In words, per feature."""
    return {
        name: "its rank is certain" if not n else f"its rank is certain to ±{n} place{'s' * (n > 1)}"
        for name, n in zip(names, places.tolist(), strict=True)
    }

"""Complementary pairs stability selection: how often a unit is chosen from halves of the labeled rows, and a bound.

R. D. Shah, R. J. Samworth: Variable selection with error control: another look at stability selection. Journal of the
Royal Statistical Society B 75, 2013. The labeled rows are cut into two halves, again and again, and from every half the
best k units are chosen. What is chosen in at least a share τ of all halves is called stable. Of units that a half
chooses no more often than chance would, with a probability of at most θ = k / p, the expected number among the stable
ones is bounded, whatever the data and however a half's own rows are ranked; docs/sieve.md says what halves share.
"""

from dataclasses import dataclass, replace

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_number
from fedsieve.errors import DataError
from fedsieve.sieve.streams import Stream
from fedsieve.sieve.views import FeatureViews

N_PAIRS = 50
MIN_ROWS = 4
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PairStability:
    """`share` is that of the halves in which a unit is among the best `n_chosen`, of `n_compared`."""

    share: Float
    n_chosen: int
    n_compared: int
    n_pairs: int

    def stable(self, threshold: float = 0.75) -> Int:
        """Those chosen in at least this share of the halves."""
        self._check(threshold)
        return np.flatnonzero(self.share >= threshold)

    def bound(self, threshold: float = 0.75, *, unimodal: bool = False) -> float:
        """How many of the stable ones, at most and on average, a half chooses no more often than chance would.

        k² / ((2τ - 1) p) holds always. `unimodal` asks for a smaller number, which holds if the share of pairs in which
        both halves choose such a unit has a distribution with one peak; where k / p is too large for it, or the pairs
        are too few for this threshold, it is equal.

        >>> found = PairStability(np.array([1.0, 0.2]), n_chosen=10, n_compared=500, n_pairs=50)
        >>> round(found.bound(0.75), 3), round(found.bound(0.75, unimodal=True), 3)
        (0.4, 0.204)
        """
        self._check(threshold)
        theta, k, pairs = self.n_chosen / self.n_compared, self.n_chosen, self.n_pairs
        always = theta * k / (2 * threshold - 1)
        # Theorem 2 speaks of thresholds above `least` or 3/4, from 1/2 + 1/B on; sums err in the last digit.
        least = min(0.5 + theta**2, 0.5 + 1 / (2 * pairs) + 0.75 * theta**2)
        spoken_of = threshold > min(least + ROUNDING, 0.75) and threshold >= 0.5 + 1 / pairs - ROUNDING
        if not unimodal or theta > 1 / np.sqrt(3) or not spoken_of:
            return always
        if threshold <= 0.75:
            return min(always, theta * k / (2 * (2 * threshold - 1 - 1 / (2 * pairs))))
        return min(always, 4 * theta * k * (1 - threshold + 1 / (2 * pairs)) / (1 + 1 / pairs))

    def of_features(self, share: Float) -> "PairStability":
        """The same with the shares of features instead of units."""
        return replace(self, share=share)

    def _check(self, threshold: float) -> None:
        rule = "a share above 0.5 up to 1"
        check_number("pair_stability_", "threshold", threshold, rule, lambda value: 0.5 < value <= 1)


def pair_stability(
    views: FeatureViews, X: Float, Y: Float, k: int, seed: int, weights: Float | None = None, n_pairs: int = N_PAIRS
) -> PairStability:
    """Cut the rows into halves so many times; of an odd number one row, another one each time, is in neither half."""
    half = len(X) // 2
    if len(X) < MIN_ROWS:
        raise DataError(f"Sieve: pair_stability_ needs at least {MIN_ROWS} labeled rows, two for a half; got {len(X)}.")
    times = np.zeros(views.n_units)
    for number in range(n_pairs):
        dealt = Stream.HALVES.rng(seed, number).permutation(len(X))
        for rows in (np.sort(dealt[:half]), np.sort(dealt[half : 2 * half])):
            times[views.quick_order(X[rows], Y[rows], None if weights is None else weights[rows])[:k]] += 1
    return PairStability(times / (2 * n_pairs), k, views.n_units, n_pairs)

"""MLNRS: how many samples have only neighbors that carry all their labels."""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_number
from fedsieve.kernels.neighborhoods import Neighborhoods
from fedsieve.measures.correlation import pearson
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked
from fedsieve.rivals.forward_search import FINITE, NOISE, carries_all, followed_by, forward
from fedsieve.rivals.rival import SupervisedRival, scores_of_order


class MLNRS(SupervisedRival):
    """Forward search for the features in which most samples are certain of their labels (neighborhood rough sets).

    A sample is certain if every neighbor carries all labels it carries; the dependency is the share of such samples,
    its soft version the mean share of such neighbors.

    J. Duan, Q. Hu, L. Zhang, Y. Qian, D. Li: Feature selection for multi-label classification based on neighborhood
    rough sets. Journal of Computer Research and Development 52(1), 56-65, 2015 (in Chinese).

    Our reading of the idea. Equal dependencies are told apart by their soft version, then by Σ_l |corr(f, y_l)|, then
    by the index. The search stops when the pick raises the dependency by less than `gain`, which on sparse 0/1 data may
    be at once; the features left follow by what they reach alone.

    Parameters: `radius` of the neighborhoods in features scaled to [0, 1], and `gain`.
    Takes O(picks · n_features · n_samples²), fewer as neighborhoods shrink; a 64th of it where all features are 0/1.
    """

    def __init__(self, n_features_to_select: float | None = None, *, radius: float = 0.15, gain: float = 1e-3) -> None:
        super().__init__(n_features_to_select)
        self.radius = radius
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_number("MLNRS", "radius", self.radius, *FINITE)
        check_number("MLNRS", "gain", self.gain, *FINITE)
        X = unit_scaled(X)
        n_samples, n_features = X.shape
        consistent = carries_all(Y)
        near = Neighborhoods(X, np.full(n_samples, float(self.radius)))

        def dependencies(features: Int) -> Sequence[Float]:
            neighbors, certain = near.counts(consistent, features)
            return (neighbors == certain).mean(axis=0), (certain / neighbors).mean(axis=0)

        def enough(increases: Float) -> bool:
            return bool(increases[0] < self.gain - NOISE)

        everyone = consistent.mean(axis=1)
        start = float((everyone == 1).mean()), float(everyone.mean())
        relation = np.abs(pearson(X, Y)).sum(axis=1)
        picked, alone = forward(np.ones(n_features, dtype=bool), dependencies, start, [relation], near.add, enough)
        order = followed_by(picked, ranked(*alone, relation))
        return scores_of_order(order), order

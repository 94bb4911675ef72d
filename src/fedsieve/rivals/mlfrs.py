"""MLFRS: how far each sample is from the nearest samples with other labels, by fuzzy rough sets."""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import check_count, check_number
from fedsieve.kernels.lower_approximations import LowerApproximations
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked
from fedsieve.rivals.forward_search import FINITE, NOISE, followed_by, forward
from fedsieve.rivals.rival import SupervisedRival, scores_of_order


class MLFRS(SupervisedRival):
    """Forward search for the features that keep samples with different labels apart (fuzzy rough sets).

    Samples are as far apart as in the feature in which they differ most. A sample's lower approximation is its mean
    distance to the `n_neighbors` nearest of the samples whose labels differ from its own more than the average; the
    dependency is the mean over samples.

    Y. Lin, Y. Li, C. Wang, J. Chen: Attribute reduction for multi-label learning with fuzzy rough set. Knowledge-Based
    Systems 152, 51-61, 2018.

    Our reading of the idea. The average of a sample's label differences is over all samples, itself included; where
    nobody differs more, its lower approximation is 1. The search stops when the best feature raises the dependency by
    less than `gain`; the features left follow by the dependency that they reach alone. Ties go to the smaller index.

    Parameters: `n_neighbors` (all, where fewer differ) and `gain`.
    Takes O(picks · n_features · n_samples²) at most: samples that are too far in the features so far are not compared.
    """

    def __init__(self, n_features_to_select: float | None = None, *, n_neighbors: int = 5, gain: float = 1e-3) -> None:
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_count("MLFRS", "n_neighbors", self.n_neighbors)
        check_number("MLFRS", "gain", self.gain, *FINITE)
        X = unit_scaled(X)
        different = differing(Y)
        lower = LowerApproximations(X, different, min(int(self.n_neighbors), len(X)))

        def dependencies(features: Int) -> Sequence[Float]:
            return [lower.means(features)]

        def enough(increases: Float) -> bool:
            return bool(increases[0] < self.gain - NOISE)

        start = float((~different.any(axis=1)).mean())
        picked, alone = forward(np.ones(X.shape[1], dtype=bool), dependencies, [start], [], lower.add, enough)
        order = followed_by(picked, ranked(*alone))
        return scores_of_order(order), order


def differing(Y: Float) -> Bool:
    """(n, n): whether sample j differs from i in more labels than the average sample does."""
    sizes = Y.sum(axis=1)
    differences = sizes[:, None] + sizes - 2 * (Y @ Y.T)
    more: Bool = len(Y) * differences > differences.sum(axis=1, keepdims=True)
    return more

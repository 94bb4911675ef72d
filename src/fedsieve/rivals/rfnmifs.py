"""RFNMIFS: ReliefF drops features, then neighborhoods as wide as the margin inform about the labels."""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_count, check_number
from fedsieve.kernels.margins import by_label, margin_radii, over_neighbors, relief_sums
from fedsieve.kernels.neighborhoods import Neighborhoods
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked, rounded
from fedsieve.rivals.forward_search import FINITE, NOISE, carries_all, followed_by, forward
from fedsieve.rivals.rival import SupervisedRival, scores_of_order

DECIMALS = 12  # of a weight


class RFNMIFS(SupervisedRival):
    """Multi-label ReliefF, then a forward search by neighborhood mutual information.

    ReliefF's weight of a feature is how much more a sample differs from its nearest misses than from its nearest hits,
    mean over samples and labels. Features of weight 0 or less are ranked last. The search adds the feature with the
    largest -mean_i log2(|n(i)| |D(i)| / (n |n(i) ∩ D(i)|)), where n(i) are the neighbors of sample i within its margin
    and D(i) the samples that carry all its labels.

    The acronym is taken to mean: L. Sun, T. Yin, W. Ding, Y. Qian, J. Xu: Multilabel feature selection using ML-ReliefF
    and neighborhood mutual information for multilabel neighborhood decision systems. Information Sciences 537,
    401-424, 2020.

    Our reading of the idea. Hits are averaged with the Jaccard similarity of the label sets as weights, misses with one
    minus it; a label counts for a sample that has both. Margins are measured in all features. Equal information is told
    apart by the weight, then by the index. The search stops when information rises by `gain` or less; the features left
    follow by weight.

    Parameters: `n_neighbors`, hits and misses of each sample under each label (all, where fewer exist), and `gain`.
    Takes O(picks · n_features · n_samples²), fewer as neighborhoods shrink; a 64th of it where all features are 0/1.
    """

    def __init__(self, n_features_to_select: float | None = None, *, n_neighbors: int = 5, gain: float = 1e-4) -> None:
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_count("RFNMIFS", "n_neighbors", self.n_neighbors)
        check_number("RFNMIFS", "gain", self.gain, *FINITE)
        X = unit_scaled(X)
        weights = relief_weights(X, Y, int(self.n_neighbors))
        carried = carries_all(Y)
        likely = carried.mean(axis=1)[:, None]
        near = Neighborhoods(X, margin_radii(X, Y))

        def information(features: Int) -> Sequence[Float]:
            neighbors, alike = near.counts(carried, features)
            return [np.log2(alike / (neighbors * likely)).mean(axis=0)]

        def enough(increases: Float) -> bool:
            return bool(increases[0] <= self.gain + NOISE)

        picked, _ = forward(rounded(weights) > 0, information, [0.0], [weights], near.add, enough)
        order = followed_by(picked, ranked(weights))
        return scores_of_order(order), order


def relief_weights(X: Float, Y: Float, n_neighbors: int) -> Float:
    """Mean over samples and labels of (weighted mean distance to misses - to hits) in each feature; X is scaled.

    >>> relief_weights(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[0], [0], [1], [1]]), 1)
    array([ 1., -1.])
    """
    rows, labels, sizes = np.ascontiguousarray(X), by_label(Y), Y.sum(axis=1)

    def work(first: int, order: Int, distances: Float) -> Float:  # noqa: ARG001 (the order tells enough)
        some = slice(first, first + len(order))
        both = Y[some] @ Y.T
        either = sizes[some, None] + sizes - both
        alike = np.where(either > 0, both / np.maximum(either, 1.0), 1.0)
        return relief_sums(first, order, alike, labels, rows, n_neighbors)

    sums = np.sum(over_neighbors(X, work), axis=0)
    weights: Float = rounded(sums / (len(X) * Y.shape[1]), DECIMALS) + 0.0
    return weights

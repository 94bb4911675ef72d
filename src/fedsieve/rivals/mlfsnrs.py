"""MLFS-NRS: the Fisher score chooses candidates, then neighborhoods as wide as the margin should agree in labels."""

import math
from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_number
from fedsieve.kernels.margins import margin_radii
from fedsieve.kernels.neighborhoods import Neighborhoods, agreements
from fedsieve.measures.entropies import shared_information
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked, rounded
from fedsieve.rivals.forward_search import FINITE, NOISE, followed_by, forward
from fedsieve.rivals.rival import SupervisedRival, scores_of_order

EPSILON = 1e-9  # keeps a Fisher score finite
DECIMALS = 12  # of its logarithm


class MLFSNRS(SupervisedRival):
    """Fisher score, then a forward search by the dependency of multi-label neighborhood rough sets.

    A sample is in the lower approximation of a label if all its neighbors within its margin agree with it in that
    label; the dependency is the share of pairs (sample, label) for which it is.

    L. Sun, T. Wang, W. Ding, J. Xu, Y. Lin: Feature selection using Fisher score and multilabel neighborhood rough sets
    for multilabel classification. Information Sciences 578, 887-912, 2021.

    Our reading of the idea. Labels weigh in the Fisher score by their mutual information with all labels. Margins are
    measured in all features. Equal dependencies are told apart by the Fisher score, then by the index. The search stops
    when the dependency rises by `gain` or less; the features left follow by Fisher score, those that were no candidates
    last.

    Parameters: `keep`, the share of features that are candidates, the best by Fisher score, and `gain`.
    Takes O(picks · n_features · n_samples²) at most: a label of a sample is done with as soon as no candidate would put
    it into the lower approximation.
    """

    def __init__(self, n_features_to_select: float | None = None, *, keep: float = 1.0, gain: float = 0.0) -> None:
        super().__init__(n_features_to_select)
        self.keep = keep
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_number("MLFSNRS", "keep", self.keep, "a number in (0, 1]", lambda value: 0 < value <= 1)
        check_number("MLFSNRS", "gain", self.gain, *FINITE)
        X = unit_scaled(X)
        n_features = X.shape[1]
        fisher = fisher_key(X, Y)
        by_fisher = ranked(fisher)
        candidates = np.zeros(n_features, dtype=bool)
        candidates[by_fisher[: max(1, math.ceil(self.keep * n_features - 1e-9))]] = True
        near = Neighborhoods(X, margin_radii(X, Y))

        def dependency(features: Int) -> Sequence[Float]:
            return [agreements(near, Y, features) / Y.size]

        def enough(increases: Float) -> bool:
            return bool(increases[0] <= self.gain + NOISE)

        start = float((np.ptp(Y, axis=0) == 0).mean())
        picked, _ = forward(candidates, dependency, [start], [fisher], near.add, enough)
        order = followed_by(picked, by_fisher)
        return scores_of_order(order), order


def fisher_key(X: Float, Y: Float) -> Float:
    """log(1 + F) of every feature: F itself, of a feature without spread, would swallow all digits.

    F is the multi-label Fisher score: how far the class means lie apart, compared with the spread inside the classes.
    For label l with the rows P that carry it and the rows N that do not,
    F_l = (|P| (m_P - m)² + |N| (m_N - m)²) / (Σ_P (x - m_P)² + Σ_N (x - m_N)² + ε), and F = Σ_l ω_l F_l, where ω_l is
    the label's share of the mutual information between all labels, its own entropy included.

    X is scaled, Y is 0/1. A label that all rows carry, or none, adds nothing.

    >>> fisher_key(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 1.0]]), np.array([[0.0], [0.0], [1.0], [1.0]]))
    array([0.        , 1.70474809])
    """
    weights = label_weights(Y)
    mean = X.mean(axis=0)
    score: Float = np.zeros(X.shape[1])
    for label, weight in zip(Y.T, weights, strict=True):
        groups = [X[label == 1], X[label != 1]]
        if all(map(len, groups)):
            # In two passes, so that a feature without spread inside the classes has none by rounding either.
            between = np.sum([len(rows) * (rows.mean(axis=0) - mean) ** 2 for rows in groups], axis=0)
            within = np.sum([((rows - rows.mean(axis=0)) ** 2).sum(axis=0) for rows in groups], axis=0)
            score = score + weight * between / (within + EPSILON)
    key: Float = np.log1p(score)
    return rounded(key, DECIMALS)


def label_weights(Y: Float) -> Float:
    """Each label's share of Σ_l Σ_m I(y_l; y_m); equal shares if no label has any information.

    >>> label_weights(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    array([0.4, 0.4, 0.2])
    """
    information = shared_information(Y, Y).sum(axis=1)
    total = float(information.sum())
    shares: Float = information / total if total > 0 else np.full(Y.shape[1], 1.0 / Y.shape[1])
    return shares

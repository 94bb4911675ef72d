"""MLFS-NRS: the Fisher score chooses candidates, then neighborhoods as wide as the margin should agree in labels."""

import math
from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.bits import popcount
from fedsieve.kernels.compiled import compiled
from fedsieve.rivals.fisher import fisher_key
from fedsieve.rivals.margins import margin_radii
from fedsieve.rivals.neighborhoods import NOISE, Neighborhoods, Words, followed_by, forward, packed
from fedsieve.rivals.parameters import check_number
from fedsieve.rivals.picking import order_by
from fedsieve.rivals.scaling import unit_scaled
from fedsieve.rivals.supervised import SupervisedRival, scores_of_order


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

    def __init__(self, n_features_to_select: int | None = None, *, keep: float = 1.0, gain: float = 0.0) -> None:
        super().__init__(n_features_to_select)
        self.keep = keep
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_number("MLFSNRS", "keep", self.keep, "in (0, 1]", lambda value: 0 < value <= 1)
        check_number("MLFSNRS", "gain", self.gain, "of at least 0, and finite", lambda value: 0 <= value < np.inf)
        X = unit_scaled(X)
        n_features = X.shape[1]
        fisher = fisher_key(X, Y)
        by_fisher = order_by(fisher)
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


def agreements(near: Neighborhoods, Y: Float, features: Int) -> Int:
    """For S + f, each f of `features`: the pairs (sample, label) with which all neighbors of the sample agree."""
    labels, n_labels = packed(Y), Y.shape[1]
    rows = np.ascontiguousarray(near.rows[:, features])
    bits = packed(rows)
    every = packed(np.ones((1, len(features))))[0]
    total = np.zeros((len(rows), len(features)), dtype=np.int64)

    def work(first: int, last: int) -> None:
        _agree(rows, bits, near.binary, near.squares, near.limits, labels, n_labels, every, first, last, total)

    near.by_parts(work)
    sums: Int = total.sum(axis=0)
    return sums


@compiled
def _agree(
    rows: Float,
    bits: Words,
    binary: bool,
    squares: Float,
    limits: Float,
    labels: Words,
    n_labels: int,
    every: Words,
    first: int,
    last: int,
    total: Int,
) -> None:
    """Add the labels of sample i to total[i, f] for which f removes all neighbors that disagree.

    `removing[l]` has a bit for each such f so far, `open_` a bit for each label that has some.
    """
    n_samples, n_words = labels.shape
    none, one = np.uint64(0), np.uint64(1)
    removing = np.empty((64 * n_words, len(every)), dtype=np.uint64)
    open_, removed = np.empty(n_words, dtype=np.uint64), np.empty(len(every), dtype=np.uint64)
    for i in range(first, last):
        for line in removing:
            for v in range(len(every)):
                line[v] = every[v]
        for w in range(n_words):
            open_[w] = ~none
        limit = limits[i]
        for j in range(n_samples):
            square = squares[i, j]
            if square > limit:
                continue
            disagree = none
            for w in range(n_words):
                disagree |= (labels[i, w] ^ labels[j, w]) & open_[w]
            if disagree == none:
                continue
            _removing(rows[i], rows[j], bits[i], bits[j], binary, square, limit, removed)
            for w in range(n_words):
                disagree = (labels[i, w] ^ labels[j, w]) & open_[w]
                while disagree != none:
                    lowest = disagree & (~disagree + one)
                    line = removing[64 * w + popcount(lowest - one)]
                    some = none
                    for v in range(len(every)):
                        line[v] &= removed[v]
                        some |= line[v]
                    if some == none:
                        open_[w] ^= lowest
                    disagree ^= lowest
        _add_bits(removing[:n_labels], total[i])


@compiled
def _removing(
    x: Float, y: Float, x_bits: Words, y_bits: Words, binary: bool, square: float, limit: float, removed: Words
) -> None:
    """A bit for each feature f that makes of a neighbor y of x no neighbor."""
    if binary:
        for v in range(len(removed)):
            removed[v] = x_bits[v] ^ y_bits[v] if square + 1.0 > limit else np.uint64(0)
        return
    for v in range(len(removed)):
        removed[v] = np.uint64(0)
    for f in range(len(x)):
        difference = x[f] - y[f]
        out = np.uint64(square + difference * difference > limit)
        removed[f // 64] |= out << np.uint64(f % 64)


@compiled
def _add_bits(lines: Words, counts: Int) -> None:
    one = np.uint64(1)
    for line in lines:
        for v in range(len(line)):
            word = line[v]
            while word != np.uint64(0):
                lowest = word & (~word + one)
                counts[64 * v + popcount(lowest - one)] += 1
                word ^= lowest

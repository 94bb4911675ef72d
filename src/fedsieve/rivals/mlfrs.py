"""MLFRS: how far each sample is from the nearest samples with other labels, by fuzzy rough sets."""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import in_order
from fedsieve.rivals.neighborhoods import NOISE, PART, followed_by, forward
from fedsieve.rivals.parameters import check_number, check_whole
from fedsieve.rivals.picking import order_by
from fedsieve.rivals.scaling import unit_scaled
from fedsieve.rivals.supervised import SupervisedRival, scores_of_order

STEPS = 64  # into which distances are sorted, roughly


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

    def __init__(self, n_features_to_select: int | None = None, *, n_neighbors: int = 5, gain: float = 1e-3) -> None:
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.gain = gain

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_whole("MLFRS", "n_neighbors", self.n_neighbors)
        check_number("MLFRS", "gain", self.gain, "of at least 0, and finite", lambda value: 0 <= value < np.inf)
        X = unit_scaled(X)
        n_samples, n_features = X.shape
        columns = np.ascontiguousarray(X.T)
        different = differing(Y)
        distances = np.zeros((n_samples, n_samples))
        k = min(int(self.n_neighbors), n_samples)

        def dependencies(features: Int) -> Sequence[Float]:
            some = columns[features]

            def work(first: int) -> Float:
                last = min(first + PART, n_samples)
                return _lower_sums(some, distances, different, first, last, k)

            parts = in_order(work, range(0, n_samples, PART))
            return [np.sum(list(parts), axis=0) / n_samples]

        def add(feature: int) -> None:
            column = columns[feature]
            parts = range(0, n_samples, PART)
            for _ in in_order(lambda first: _widen(column, first, min(first + PART, n_samples), distances), parts):
                pass

        def enough(increases: Float) -> bool:
            return bool(increases[0] < self.gain - NOISE)

        start = float((~different.any(axis=1)).mean())
        picked, alone = forward(np.ones(n_features, dtype=bool), dependencies, [start], [], add, enough)
        order = followed_by(picked, order_by(*alone))
        return scores_of_order(order), order


def differing(Y: Float) -> Bool:
    """(n, n): whether sample j differs from i in more labels than the average sample does."""
    sizes = Y.sum(axis=1)
    differences = sizes[:, None] + sizes - 2 * (Y @ Y.T)
    more: Bool = len(Y) * differences > differences.sum(axis=1, keepdims=True)
    return more


@compiled
def _widen(column: Float, first: int, last: int, distances: Float) -> None:
    for i in range(first, last):
        for j in range(len(column)):
            distances[i, j] = max(distances[i, j], abs(column[i] - column[j]))


@compiled
def _lower_sums(columns: Float, distances: Float, different: Bool, first: int, last: int, k: int) -> Float:
    """Σ_i of the lower approximations in S + f, for each f."""
    n_features, n_samples = columns.shape
    sums = np.zeros(n_features)
    others, floors = np.empty(n_samples, dtype=np.int64), np.empty(n_samples)
    places = np.empty(STEPS + 2, dtype=np.int64)
    nearest = np.empty(k)
    for i in range(first, last):
        own = distances[i]
        # Those that differ in labels, the near ones of S first: counting sort by steps of 1 / STEPS.
        places[:] = 0
        for j in range(n_samples):
            if different[i, j]:
                places[int(own[j] * STEPS) + 1] += 1
        for step in range(STEPS + 1):
            places[step + 1] += places[step]
        n_others = places[STEPS + 1]
        for j in range(n_samples):
            if different[i, j]:
                step = int(own[j] * STEPS)
                others[places[step]] = j
                floors[places[step]] = step / STEPS
                places[step] += 1
        wanted = min(k, n_others)
        if wanted == 0:
            sums += 1.0
            continue
        for f in range(n_features):
            column = columns[f]
            x = column[i]
            nearest[:] = np.inf
            for t in range(n_others):
                if floors[t] >= nearest[wanted - 1]:
                    break
                j = others[t]
                distance = max(own[j], abs(x - column[j]))
                if distance < nearest[wanted - 1]:
                    place = wanted - 1
                    while place > 0 and nearest[place - 1] > distance:
                        nearest[place] = nearest[place - 1]
                        place -= 1
                    nearest[place] = distance
            sums[f] += nearest[:wanted].mean()
    return sums

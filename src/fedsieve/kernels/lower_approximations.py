"""Fuzzy lower approximations in a growing set of features: mean distances to the nearest samples with other labels.

Samples are as far apart as in the feature in which they differ most.
"""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import parallel_map

STEPS = 64  # into which distances are sorted, roughly
PART = 32  # samples that a thread takes at a time


class LowerApproximations:
    """How far samples are from the k nearest that differ in labels, in the features added so far; none at first.

    `rows` is scaled (n_samples, n_features); `different[i, j]` says whether j differs from i.
    """

    def __init__(self, rows: Float, different: Bool, k: int) -> None:
        self._columns, self._different, self._k = np.ascontiguousarray(rows.T), different, k
        self._distances = np.zeros((len(rows), len(rows)))
        self._parts = range(0, len(rows), PART)

    def add(self, feature: int) -> None:
        """Let one more feature take part in the distances."""
        column = self._columns[feature]
        for _ in parallel_map(lambda first: _widen(column, first, self._last(first), self._distances), self._parts):
            pass

    def means(self, features: Int) -> Float:
        """For S + f, each f of `features`: the mean over samples of the distance to the k nearest, 1 if none differ."""
        some = self._columns[features]

        def work(first: int) -> Float:
            return _lower_sums(some, self._distances, self._different, first, self._last(first), self._k)

        means: Float = np.sum(list(parallel_map(work, self._parts)), axis=0) / len(self._distances)
        return means

    def _last(self, first: int) -> int:
        return min(first + PART, len(self._distances))


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

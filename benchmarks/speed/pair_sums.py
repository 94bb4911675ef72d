"""Pair sums against scipy's `cdist` and against numpy, on the same row pairs, counted per unique pair of features.

The peers get the relations of the row pairs i < j ready-made, which spares them the building that our time includes;
`cdist` visits every pair of features twice, so half its time is counted.
"""

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.row import Row
from benchmarks.speed.timing import best_of, times_as_fast
from fedsieve import fuzzy
from fedsieve.kernels import continuous, pair_sums
from fedsieve.kernels.degrees import cuts

LAM = 1.2


def rows() -> list[Row]:
    """Of many values, and of two."""
    return [*_continuous_rows(), *_binary_rows()]


def _continuous_rows() -> list[Row]:
    """Yeast's width: d = 103, n = 600, continuous values."""
    X = np.random.default_rng(0).random((600, 103))
    radius = X.std(axis=0, ddof=1) / LAM
    ours = best_of(lambda: pair_sums(X, radius, n_threads=2))
    single = best_of(lambda: pair_sums(X, radius, n_threads=1))
    relations = pair_relations(X, radius)
    shape = "continuous, d = 103, n = 600"
    return [
        times_as_fast(shape, "scipy cdist cityblock, unique pairs", best_of(lambda: _cdist(relations)) / 2, ours, 20),
        times_as_fast(shape, "numpy twin", best_of(lambda: _numpy_sums(relations)), ours, 60),
        times_as_fast(shape, "ours on one thread", single, ours),
    ]


def _binary_rows() -> list[Row]:
    """One of ten clients with Enron's width: d = 1001, n = 170, 0/1 values."""
    X = (np.random.default_rng(0).random((170, 1001)) < 0.1).astype(np.float64)
    radius = X.std(axis=0, ddof=1) / LAM
    columns, cut = np.ascontiguousarray(X.T), cuts(radius, "distance")
    ours = best_of(lambda: pair_sums(X, radius, n_threads=2))
    dense = best_of(lambda: continuous.sums_from_values(columns, cut, False, len(columns), 2))
    relations = pair_relations(X, radius)
    shape = "0/1, d = 1001, n = 170"
    return [
        times_as_fast(shape, "our kernel for continuous values", dense, ours, 25),
        times_as_fast(shape, "scipy cdist cityblock, unique pairs", best_of(lambda: _cdist(relations)) / 2, ours, 400),
    ]


def pair_relations(X: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """The relation of every feature on the row pairs i < j, (n_features, n_pairs)."""
    i, j = np.triu_indices(len(X), 1)
    return np.stack([fuzzy.membership(np.abs(x[i] - x[j]), eps) for x, eps in zip(X.T, radius, strict=True)])


def _cdist(relations: np.ndarray) -> np.ndarray:
    return cdist(relations, relations, "cityblock")


def _numpy_sums(relations: np.ndarray) -> np.ndarray:
    n_features = len(relations)
    sums = np.empty((n_features, n_features))
    for p in range(n_features):
        sums[p, p:] = np.minimum(relations[p], relations[p:]).sum(axis=1)
    return sums

"""Pair sums as the kernels define them, in whole numbers and by plain numpy: what they must equal to the last bit."""

import numpy as np

from fedsieve import fuzzy
from fedsieve.kernels.degrees import ONE


def relations_of(X, radius, kind="distance", nominal=None):
    """The relation of each feature, (n_features, n_rows, n_rows)."""
    n_features = X.shape[1]
    radius = np.broadcast_to(radius, (n_features,))
    nominal = np.zeros(n_features, dtype=bool) if nominal is None else nominal
    return np.array([fuzzy.relation(X[:, p], radius[p], kind, nominal=nominal[p]) for p in range(n_features)])


def exact_pair_sums(X, radius, kind="distance", nominal=None):
    """Degrees rounded to multiples of 2^-23, and their minima added up without rounding."""
    degrees = np.floor(relations_of(X, radius, kind, nominal) * ONE + 0.5).astype(np.int64)
    sums = np.array([[np.minimum(R, T).sum() for T in degrees] for R in degrees])
    return sums / ONE


def mixed_table(rng, n_rows, n_features, *, share_missing=0.0):
    """Continuous, 0/1, three-valued, constant and 40-valued features in turn."""
    makers = (
        lambda: rng.random(n_rows),
        lambda: rng.integers(0, 2, n_rows).astype(float),
        lambda: rng.integers(0, 3, n_rows) / 2,
        lambda: np.full(n_rows, 0.4),
        lambda: rng.integers(0, 40, n_rows) / 39,
    )
    X = np.stack([makers[p % len(makers)]() for p in range(n_features)], axis=1)
    return np.where(rng.random(X.shape) < share_missing, np.nan, X)


def sampled_pair_sums(X, radius, sample, kind="distance", nominal=None):
    """The estimate from a sample, pair by pair: its mean stands for all pairs of different rows."""
    degrees = np.floor(relations_of(X, radius, kind, nominal) * ONE + 0.5).astype(np.int64)
    n_rows, order = len(X), sample.order
    pairs = [(order[i], order[(i + step) % n_rows]) for i in range(n_rows) for step in range(1, sample.n_next + 1)]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)  # each once
    there = np.array([degrees[:, i, j] for i, j in pairs])
    sums = np.array([[np.minimum(r, s).sum() for s in there.T] for r in there.T])
    return n_rows + n_rows * (n_rows - 1) / len(pairs) * (sums / ONE)

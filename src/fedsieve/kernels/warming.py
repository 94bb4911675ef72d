"""Run every kernel once on a tiny table, so that compiling (or loading from disk) happens when one chooses."""

import numpy as np
from scipy import sparse

from fedsieve.kernels.dependency import different_rows, relevance, soft_decisions
from fedsieve.kernels.products import distance_product
from fedsieve.kernels.sums import pair_sums, pair_sums_of_relations
from fedsieve.kernels.trees import tree_importances


def warm_up() -> None:
    """Compile or load all kernels."""
    rows = np.arange(20)
    X = np.stack([rows / 19.0, rows % 2 / 1.0, rows % 3 / 2.0], axis=1)  # many, two and three values
    radius = np.full(3, 0.3)
    sums = pair_sums(np.vstack([X, X]), radius)
    pair_sums(sparse.csr_array(X[:, 1:2]), 0.3)
    pair_sums_of_relations(np.ones((1, 2, 2)))
    distance_product(sums, np.ones(3))
    Y = np.eye(4)[rows % 4]
    relevance(X, different_rows(Y, 2), radius)
    soft_decisions(X, Y, radius)
    tree_importances(X, Y, 1)

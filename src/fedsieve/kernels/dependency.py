"""Feature-label relevance on the server's labeled rows: the fast twin of `fuzzy.dependency`.

After the neighbor search (by distinct label sets in `unlike_labels`, or in blocks of rows) it looks only at the
n_samples * n_neighbors pairs that matter and never forms a relation.
"""

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import check_choice
from fedsieve.errors import DataError, ParameterError
from fedsieve.fuzzy.neighbors import IRRELEVANT_RULES, known_label_similarity, label_directions, pick_least_similar
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.degrees import cuts
from fedsieve.kernels.unlike_labels import least_similar_sets

BLOCK_VALUES = 1 << 22  # similarities at a time


def different_rows(decisions: Float, n_neighbors: int, irrelevant: str = "least") -> Int:
    """DT of every row, (n_samples, n_neighbors), -1 where there is none: `fuzzy.least_similar`, never all similarities.

    0/1 labels by distinct sets, others (fuzzy decisions, or NaN where a label is unknown) in blocks of rows.
    """
    decisions = np.asarray(decisions)
    if decisions.ndim != 2 or not decisions.size:
        raise DataError(f"kernels.different_rows: Y must be (n_samples, n_labels); got shape {decisions.shape}.")
    n_samples = len(decisions)
    check_choice("kernels.different_rows", "irrelevant", irrelevant, IRRELEVANT_RULES)
    if not 1 <= n_neighbors < n_samples:
        raise ParameterError(
            f"kernels.different_rows: n_neighbors must be at least 1 and below the number of labeled rows, "
            f"{n_samples}; got {n_neighbors}."
        )
    if np.all((decisions == 0) | (decisions == 1)):
        return least_similar_sets(decisions, n_neighbors, irrelevant == "nonnegative")
    directions = None if np.isnan(decisions).any() else label_directions(decisions)

    def similar(rows: Int) -> Float:
        if directions is None:
            return known_label_similarity(decisions, rows)
        return directions[rows] @ directions.T

    n_block = max(1, BLOCK_VALUES // n_samples)
    blocks = [np.arange(first, min(first + n_block, n_samples)) for first in range(0, n_samples, n_block)]
    return np.concatenate([pick_least_similar(similar(rows), rows, n_neighbors, irrelevant) for rows in blocks])


def relevance(X: Float, different: Int, radius: Float, kind: str = "distance", nominal: Bool | None = None) -> Float:
    """Equation 12 for every feature: the mean of 1 - R_p(x_i, x_j) over rows i and their different rows j.

    X is (n_samples, n_features), scaled. Returns (n_features,).
    """
    return _relevance(
        np.ascontiguousarray(X, dtype=np.float64),
        different,
        cuts(radius, kind, nominal, X.shape[1]),
        kind == "similarity",
    )


def soft_decisions(X: Float, Y: Float, radius: Float, kind: str = "distance", nominal: Bool | None = None) -> Float:
    """Fuzzy decisions of `fuzzy.soft_decisions` under the relation of all features, their element-wise minimum.

    Leaves a pair of rows at the first feature that separates it. Returns (n_samples, n_labels).
    """
    table = np.ascontiguousarray(X, dtype=np.float64)
    return _soft_decisions(
        table, np.ascontiguousarray(Y, dtype=np.float64), cuts(radius, kind, nominal, X.shape[1]), kind == "similarity"
    )


@compiled
def _degree(difference: float, cut: float, by_similarity: bool) -> float:
    """Equation 3 in float64; 0 where a value is missing."""
    alike = 1.0 - difference
    near = alike > cut if by_similarity else difference <= cut
    return alike if near and alike > 0.0 else 0.0


@compiled
def _relevance(X: Float, different: Int, cut: Float, by_similarity: bool) -> Float:
    n_samples, n_features = X.shape
    n_neighbors = different.shape[1]
    total = np.zeros(n_features)
    for i in range(n_samples):
        for k in range(n_neighbors):
            j = different[i, k]
            if j >= 0:
                for f in range(n_features):
                    total[f] += 1.0 - _degree(abs(X[i, f] - X[j, f]), cut[f], by_similarity)
    mean: Float = total / (n_samples * n_neighbors)
    return mean


@compiled
def _soft_decisions(X: Float, Y: Float, cut: Float, by_similarity: bool) -> Float:
    n_samples, n_features = X.shape
    shares = Y.copy()  # every row is fully related to itself
    size = np.ones(n_samples)
    for i in range(n_samples):
        for j in range(i):
            degree = 1.0
            for f in range(n_features):
                degree = min(degree, _degree(abs(X[i, f] - X[j, f]), cut[f], by_similarity))
                if degree == 0.0:
                    break
            if degree > 0.0:
                shares[i] += degree * Y[j]
                shares[j] += degree * Y[i]
                size[i] += degree
                size[j] += degree
    for i in range(n_samples):
        shares[i] /= size[i]
    return shares

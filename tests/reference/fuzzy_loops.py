"""The equations of the paper as loops over scalars: fuzzy relations, entropies, approximations, PageRank.

Relations are (n, n) arrays, features are scaled already. The federation (ranges, spread, clients) is not here
but in `selection_loops`.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
SIMILARITY_CAP = 1 - 1e-12
SIMILARITY_DECIMALS = 12
CONSTANT_ROW = 1e-12
TIE = 1e-9


def relation(x: ArrayLike, radius: float, kind: str = "distance", nominal: bool = False) -> Float:
    """Eq. 3: r_ij = 1 - |x_i - x_j|, cut to 0 beyond the radius; r_ii = 1.

    "distance" cuts where |x_i - x_j| > radius, "similarity" where 1 - |x_i - x_j| <= radius (capped below 1).
    A nominal feature: r_ij = 1 where the codes are equal, else 0. A missing value (NaN): r_ij = 0 for i != j.
    """
    if kind not in ("distance", "similarity"):
        raise ValueError(f"kind must be 'distance' or 'similarity'; got {kind!r}.")
    values = [float(v) for v in np.asarray(x, dtype=np.float64)]
    n_samples = len(values)
    R = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        for j in range(n_samples):
            if i == j:
                R[i, j] = 1.0
            elif math.isnan(values[i]) or math.isnan(values[j]):
                R[i, j] = 0.0
            elif nominal:
                R[i, j] = 1.0 if values[i] == values[j] else 0.0
            else:
                difference = abs(values[i] - values[j])
                related = difference <= radius if kind == "distance" else 1 - difference > min(radius, SIMILARITY_CAP)
                R[i, j] = 1 - difference if related else 0.0
    return R


def is_reflexive(R: Float) -> bool:
    """Definition 1: R(x, x) = 1."""
    return all(R[x, x] == 1 for x in range(len(R)))


def is_symmetric(R: Float) -> bool:
    """Definition 1: R(x, y) = R(y, x)."""
    return all(R[x, y] == R[y, x] for x in range(len(R)) for y in range(len(R)))


def is_transitive(R: Float) -> bool:
    """Definition 1: R(x, z) >= sup_y min(R(x, y), R(y, z))."""
    n = len(R)
    return all(R[x, z] >= max(min(R[x, y], R[y, z]) for y in range(n)) for x in range(n) for z in range(n))


def lower_approximation(R: Float, A: ArrayLike) -> Float:
    """Eq. 1: inf over y of max(1 - R(x, y), A(y))."""
    A = np.asarray(A, dtype=np.float64)
    return np.array([min(max(1 - R[x, y], A[y]) for y in range(len(R))) for x in range(len(R))])


def upper_approximation(R: Float, A: ArrayLike) -> Float:
    """Eq. 2: sup over y of min(R(x, y), A(y))."""
    A = np.asarray(A, dtype=np.float64)
    return np.array([max(min(R[x, y], A[y]) for y in range(len(R))) for x in range(len(R))])


def _cardinality(R: Float, i: int) -> float:
    """|[x_i]_p|, the sum of row i."""
    return sum(float(R[i, j]) for j in range(len(R)))


def _common_cardinality(R: Float, T: Float, i: int) -> float:
    """|[x_i]_p n [x_i]_b|, the sum over row i of the smaller of the two."""
    return sum(min(float(R[i, j]), float(T[i, j])) for j in range(len(R)))


def entropy(R: Float) -> float:
    """Eq. 4: CE(p)."""
    n = len(R)
    return sum(1 - _cardinality(R, i) / n for i in range(n)) / n


def joint_entropy(R: Float, T: Float) -> float:
    """Eq. 5: CJE(p, b)."""
    n = len(R)
    return sum(1 - _common_cardinality(R, T, i) / n for i in range(n)) / n


def conditional_entropy(R: Float, T: Float) -> float:
    """Eq. 6: CCE(p | b), of R given T."""
    n = len(R)
    return sum(_cardinality(T, i) / n - _common_cardinality(R, T, i) / n for i in range(n)) / n


def mutual_information(R: Float, T: Float) -> float:
    """Eq. 7: CMI(p; b)."""
    n = len(R)
    total = 0.0
    for i in range(n):
        total += 1 - (_cardinality(T, i) + _cardinality(R, i) - _common_cardinality(R, T, i)) / n
    return total / n


def correlation_distance(relations: Sequence[Float]) -> Float:
    """D_pb = CJE(p, b) - CMI(p; b), Eq. 5 minus Eq. 7, for every pair of features."""
    return np.array([[joint_entropy(R, T) - mutual_information(R, T) for T in relations] for R in relations])


def pair_sums(relations: Sequence[Float]) -> Float:
    """S_pb, the sum over all i, j of min(r_p, r_b)."""
    sums = np.zeros((len(relations), len(relations)))
    for p, R in enumerate(relations):
        for b, T in enumerate(relations):
            sums[p, b] = sum(_common_cardinality(R, T, i) for i in range(len(R)))
    return sums


def positive_region(R: Float, Y: ArrayLike) -> Float:
    """Eq. 8: the union (largest membership) over the labels of their lower approximations."""
    Y = np.asarray(Y, dtype=np.float64)
    lower = [lower_approximation(R, Y[:, label]) for label in range(Y.shape[1])]
    return np.array([max(membership[i] for membership in lower) for i in range(len(R))])


def label_similarity(Y: ArrayLike) -> Float:
    """Eq. 9: Pearson correlation of the label rows; 0 wherever one of the two rows is constant."""
    Y = np.asarray(Y, dtype=np.float64)
    n_samples, n_labels = Y.shape
    similarity = np.zeros((n_samples, n_samples))
    constant = [max(row) - min(row) <= CONSTANT_ROW for row in Y]
    mean = [sum(float(v) for v in row) / n_labels for row in Y]
    for i in range(n_samples):
        for j in range(n_samples):
            if constant[i] or constant[j]:
                continue
            product = sum((Y[i, t] - mean[i]) * (Y[j, t] - mean[j]) for t in range(n_labels))
            own_i = math.sqrt(sum((Y[i, t] - mean[i]) ** 2 for t in range(n_labels)))
            own_j = math.sqrt(sum((Y[j, t] - mean[j]) ** 2 for t in range(n_labels)))
            similarity[i, j] = product / (own_i * own_j)
    return similarity


def least_similar(similarity: Float, k: int, irrelevant: str = "least") -> list[list[int]]:
    """DT(x_i): the k least similar other rows; under "nonnegative", the k least of those not negative."""
    if irrelevant not in ("least", "nonnegative"):
        raise ValueError(f"irrelevant must be 'least' or 'nonnegative'; got {irrelevant!r}.")
    sets = []
    for i in range(len(similarity)):
        others = _others(similarity, i)
        if irrelevant == "nonnegative":
            others = [(value, j) for value, j in others if value >= 0]
        sets.append([j for _, j in sorted(others)[:k]])
    return sets


def most_similar(similarity: Float, k: int) -> list[list[int]]:
    """ST(x_i): the k most similar other rows."""
    descending = [sorted((-value, j) for value, j in _others(similarity, i)) for i in range(len(similarity))]
    return [[j for _, j in row[:k]] for row in descending]


def _others(similarity: Float, i: int) -> list[tuple[float, int]]:
    """(similarity to row i, row) of all rows but i, rounded so that equal label rows tie."""
    return [(round(float(v), SIMILARITY_DECIMALS), j) for j, v in enumerate(similarity[i]) if j != i]


def neighbor_lower(R: Float, DT: Sequence[Sequence[int]], k: int) -> Float:
    """Eq. 10: (1/k) times the sum over DT(x_i) of 1 - R(x_i, x_j)."""
    return np.array([sum(1 - float(R[i, j]) for j in DT[i]) / k for i in range(len(R))])


def neighbor_upper(R: Float, ST: Sequence[Sequence[int]], k: int) -> Float:
    """Eq. 11: (1/k) times the sum over ST(x_i) of R(x_i, x_j)."""
    return np.array([sum(float(R[i, j]) for j in ST[i]) / k for i in range(len(R))])


def dependency(
    X: ArrayLike,
    Y: ArrayLike,
    radius: ArrayLike,
    n_neighbors: int = 3,
    kind: str = "distance",
    irrelevant: str = "least",
    nominal: Collection[int] = (),
) -> Float:
    """Eq. 12: per feature, the mean over the labeled rows of the neighbor lower approximation."""
    X = np.asarray(X, dtype=np.float64)
    n_samples, n_features = X.shape
    if n_neighbors >= n_samples:
        raise ValueError(f"n_neighbors must be below the {n_samples} labeled rows; got {n_neighbors}.")
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), (n_features,))
    DT = least_similar(label_similarity(Y), n_neighbors, irrelevant)
    relevance = np.zeros(n_features)
    for p in range(n_features):
        R = relation(X[:, p], float(radius[p]), kind, nominal=p in nominal)
        relevance[p] = sum(float(v) for v in neighbor_lower(R, DT, n_neighbors)) / n_samples
    return relevance


def soft_decisions(relations: Sequence[Float], Y: ArrayLike) -> Float:
    """Fuzzy decisions for Eq. 9: the share of row i's class, under all features, that carries label l."""
    Y = np.asarray(Y, dtype=np.float64)
    n_samples, n_labels = Y.shape
    decisions = np.zeros((n_samples, n_labels))
    for i in range(n_samples):
        together = [min(float(R[i, j]) for R in relations) for j in range(n_samples)]
        for label in range(n_labels):
            carrying = sum(together[j] for j in range(n_samples) if Y[j, label] == 1)
            decisions[i, label] = carrying / sum(together)
    return decisions


def pagerank_solution(D: ArrayLike, weights: ArrayLike, damping: float = 0.85) -> Float:
    """Eq. 13 at its fixed point: (I - damping P) G = (1 - damping) W with P_ij = D_ij / deg_j.

    The diagonal of D counts as 0, and so does column j of P where deg_j = 0.
    """
    edges = np.array(D, dtype=np.float64)
    weights = np.asarray(weights, dtype=np.float64)
    n_features = len(weights)
    for i in range(n_features):
        edges[i, i] = 0.0
    system = np.eye(n_features)
    for j in range(n_features):
        degree = sum(float(edges[j, z]) for z in range(n_features))
        for i in range(n_features):
            if degree != 0:
                system[i, j] -= damping * edges[i, j] / degree
    return np.linalg.solve(system, (1 - damping) * weights)


def order(scores: ArrayLike, last: Collection[int] = ()) -> list[int]:
    """Features, best first, and those in `last` behind all others, in index order.

    Neighbors closer than 1e-9 of the largest score tie, in chains too; ties go to the smaller index.
    """
    scores = [float(v) for v in np.asarray(scores, dtype=np.float64)]
    ranked = sorted((p for p in range(len(scores)) if p not in last), key=lambda p: (-scores[p], p))
    tied: list[list[int]] = []
    for p in ranked:
        gap = scores[tied[-1][-1]] - scores[p] if tied else math.inf
        if gap == 0 or gap < TIE * max(scores):
            tied[-1].append(p)
        else:
            tied.append([p])
    return [p for group in tied for p in sorted(group)] + sorted(last)

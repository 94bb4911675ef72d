"""GRMFS: PageRank of the features, by fuzzy dependency at the nodes and fuzzy information on the edges."""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from .basics import columns, is_constant, scaled
from .rounding import descending

Matrix = list[list[float]]


def order(
    X: ArrayLike,
    Y: ArrayLike,
    mode: str = "paper",
    lam: float = 1.2,
    n_neighbors: int = 3,
    damping: float = 0.85,
    tol: float | None = None,
    max_iter: int = 100,
) -> list[int]:
    """Features by PageRank, largest first.

    "paper" cuts relations by distance and teleports by node weight; "code" cuts by similarity and teleports evenly.
    """
    return descending(scores(X, Y, mode, lam, n_neighbors, damping, tol, max_iter))


def scores(
    X: ArrayLike,
    Y: ArrayLike,
    mode: str = "paper",
    lam: float = 1.2,
    n_neighbors: int = 3,
    damping: float = 0.85,
    tol: float | None = None,
    max_iter: int = 100,
) -> list[float]:
    """PageRank of every feature."""
    if mode not in ("paper", "code"):
        raise ValueError(f"mode must be 'paper' or 'code'; got {mode!r}.")
    relations = [relation(column, lam, mode) for column in columns(X)]
    decisions = fuzzy_decisions(relations, Y)
    different = least_similar(label_similarity(decisions), n_neighbors)
    nodes = [dependency(R, different, n_neighbors) for R in relations]
    A = adjacency(edge_weights(relations, label_relation(decisions)))
    if mode == "paper":
        return pagerank_of_paper(A, nodes, damping, 1e-9 if tol is None else tol, max_iter)
    return pagerank_of_code(A, nodes, damping, 1e-4 if tol is None else tol, max_iter)


def relation(column: Sequence[float], lam: float, mode: str) -> Matrix:
    """r = 1 - |difference| of the scaled values, or 0 where the difference is large (paper), r is small (code).

    Equal values have r = 1 in both modes.
    """
    values = scaled(column)
    radius = _deviation(values) / lam
    R = []
    for a in values:
        row = []
        for b in values:
            difference = abs(a - b)
            kept = difference <= radius if mode == "paper" else 1 - difference > min(radius, 1 - 1e-12)
            row.append(1 - difference if kept else 0.0)
        R.append(row)
    return R


def _deviation(values: Sequence[float]) -> float:
    if is_constant(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def fuzzy_decisions(relations: Sequence[Matrix], Y: ArrayLike) -> Matrix:
    """Share of the rows related to row i under all features that carry label l, to 12 decimals."""
    labels = columns(Y)
    n = len(labels[0])
    decisions = []
    for i in range(n):
        together = [min(R[i][j] for R in relations) for j in range(n)]
        row = [sum(together[j] for j in range(n) if label[j] == 1) / sum(together) for label in labels]
        decisions.append([round(v, 12) for v in row])
    return decisions


def label_relation(decisions: Matrix) -> Matrix:
    """R_D: the smallest 1 - |difference| over the labels."""
    return [[min(1 - abs(u - v) for u, v in zip(a, b, strict=True)) for b in decisions] for a in decisions]


def label_similarity(decisions: Matrix) -> Matrix:
    """Pearson correlation of the rows over the labels, to 12 decimals; 0 where one of the rows is constant."""
    return [[round(_correlation(a, b), 12) for b in decisions] for a in decisions]


def _correlation(a: Sequence[float], b: Sequence[float]) -> float:
    if max(a) - min(a) <= 1e-12 or max(b) - min(b) <= 1e-12:
        return 0.0
    mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    product = math.fsum((u - mean_a) * (v - mean_b) for u, v in zip(a, b, strict=True))
    own_a = math.sqrt(math.fsum((u - mean_a) ** 2 for u in a))
    own_b = math.sqrt(math.fsum((v - mean_b) ** 2 for v in b))
    return product / (own_a * own_b)


def least_similar(similarity: Matrix, n_neighbors: int) -> list[list[int]]:
    """DT(x_i): the other rows of least similarity that is not negative, at most n_neighbors.

    >>> least_similar([[1, 0.5, -1], [0.5, 1, 0], [-1, 0, 1]], 1)
    [[1], [2], [1]]
    """
    sets = []
    for i, row in enumerate(similarity):
        ascending = sorted((value, j) for j, value in enumerate(row) if j != i and value >= 0)
        sets.append([j for _, j in ascending[:n_neighbors]])
    return sets


def dependency(R: Matrix, different: Sequence[Sequence[int]], n_neighbors: int) -> float:
    """Sig_f = (1/n) sum_i (1/k) sum_{j in DT(i)} (1 - R_f[i, j])."""
    return sum(sum(1 - R[i][j] for j in others) / n_neighbors for i, others in enumerate(different)) / len(R)


def edge_weights(relations: Sequence[Matrix], D: Matrix) -> Matrix:
    """Edg(i, j) = I(f_i f_j; D) + I(f_j; D | f_i) - I(f_i; f_j), to 10 decimals; the diagonal is 0."""
    n, n_features = len(D), len(relations)
    label_size = [sum(row) for row in D]
    size = [[sum(row) for row in R] for R in relations]
    with_labels = [[sum(_common(row, D[x])) for x, row in enumerate(R)] for R in relations]
    E = [[0.0] * n_features for _ in relations]
    for a in range(n_features):
        for b in range(a + 1, n_features):
            common = [_common(p, q) for p, q in zip(relations[a], relations[b], strict=True)]
            both = [sum(row) for row in common]
            all_three = [sum(_common(row, D[x])) for x, row in enumerate(common)]
            for i, j in ((a, b), (b, a)):
                association = interaction = redundancy = 0.0
                for x in range(n):
                    association -= math.log2(both[x] * label_size[x] / (n * all_three[x])) / n
                    interaction -= math.log2(both[x] * with_labels[i][x] / (all_three[x] * size[i][x])) / n
                    redundancy -= math.log2(size[i][x] * size[j][x] / (n * both[x])) / n
                E[i][j] = round(association + interaction - redundancy, 10)
    return E


def _common(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The smaller of the two degrees, for each row."""
    return [u if u < v else v for u, v in zip(a, b, strict=True)]


def adjacency(E: Matrix) -> Matrix:
    """Columns divided by their sums, entries above 0 only; all columns scaled to [0, 1] first if one has none.

    A column may have a negative sum, which turns its negative entries into edges: so does the published code.

    >>> adjacency([[0, 1, 2], [3, 0, 2], [1, 1, 0]])
    [[0.0, 0.5, 0.5], [0.75, 0.0, 0.5], [0.25, 0.5, 0.0]]
    >>> adjacency([[0, -1], [2, 0]])
    [[0.0, 0.0], [1.0, 0.0]]
    """
    d = len(E)
    by_column = [[E[i][j] for i in range(d)] for j in range(d)]
    if any(max(column) <= 0 for column in by_column):
        by_column = [scaled(column) for column in by_column]
        for j in range(d):
            by_column[j][j] = 0.0
    divided = []
    for column in by_column:
        total = round(sum(column), 9)
        divided.append([v / total if total != 0 else v for v in column])
    return [[divided[j][i] if divided[j][i] > 0 else 0.0 for j in range(d)] for i in range(d)]


def pagerank_of_code(A: Matrix, nodes: Sequence[float], damping: float, tol: float, max_iter: int) -> list[float]:
    """c <- damping A (c / deg) + damping / d * sum of c at the sinks + (1 - damping) / d, from the node weights."""
    d = len(A)
    degree = [sum(A[i][j] for i in range(d)) for j in range(d)]
    c = list(nodes)
    for _ in range(max_iter):
        stuck = sum(c[j] for j in range(d) if degree[j] == 0)
        new = []
        for i in range(d):
            flow = sum(A[i][j] * c[j] / degree[j] for j in range(d) if degree[j] != 0)
            new.append(damping * flow + damping / d * stuck + (1 - damping) / d)
        moved = max(abs(u - v) for u, v in zip(new, c, strict=True))
        c = new
        if moved <= tol:
            break
    return c


def pagerank_of_paper(A: Matrix, nodes: Sequence[float], damping: float, tol: float, max_iter: int) -> list[float]:
    """g <- (1 - damping) Sig + damping A (g / deg), from Sig; what flows into a sink is lost."""
    d = len(A)
    degree = [sum(A[i][j] for i in range(d)) for j in range(d)]
    g = list(nodes)
    for _ in range(max_iter):
        new = []
        for i in range(d):
            flow = sum(A[i][j] * g[j] / degree[j] for j in range(d) if degree[j] != 0)
            new.append((1 - damping) * nodes[i] + damping * flow)
        moved = sum(abs(u - v) for u, v in zip(new, g, strict=True))
        g = new
        if moved <= tol * sum(abs(v) for v in new):
            break
    return g

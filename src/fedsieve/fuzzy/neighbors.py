"""k-nearest-neighbor fuzzy dependency: how far a feature separates rows with unlike labels (Equations 9 to 12).

Neighbors are an (n_samples, n_neighbors) array of row numbers; -1 stands for "there is none".
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.errors import DataError, ParameterError
from fedsieve.fuzzy.relation import check_relation, relation
from fedsieve.ordering import ranked, rounded

Irrelevant = Literal["least", "nonnegative"]
IRRELEVANT_RULES: tuple[str, ...] = get_args(Irrelevant)
DECIMALS = 12  # of a similarity: equal label rows tie


def label_similarity(Y: ArrayLike) -> Float:
    """Fuzzy similarity of rows under the label set, Equation 9: Pearson's correlation of their label rows.

    A row whose labels are all equal has no direction: its similarity to every row is 0.
    Y has shape (n_samples, n_labels), 0/1 or fuzzy decisions in [0, 1]. Returns (n_samples, n_samples).

    >>> label_similarity([[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]).round(3) + 0.0
    array([[ 1.,  1., -1.,  0.],
           [ 1.,  1., -1.,  0.],
           [-1., -1.,  1.,  0.],
           [ 0.,  0.,  0.,  0.]])
    """
    directions = label_directions(Y)
    return directions @ directions.T


def known_label_similarity(Y: ArrayLike, rows: Int | None = None) -> Float:
    """Equation 9 where single labels are unknown (NaN): of two rows, the correlation over the labels known in both.

    0 where these do not vary in one of the rows, as where they are fewer than two. Returns (n_samples, n_samples), or
    the lines of some `rows` only.

    >>> nan = float("nan")
    >>> known_label_similarity([[1, 0, 0, nan], [1, 0, nan, 0], [0, 1, 1, 1]]).round(3) + 0.0
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    labels = np.asarray(Y, dtype=np.float64)
    known = ~np.isnan(labels)
    values, there = np.where(known, labels, 0.0), known.astype(np.float64)
    one, here = (values, there) if rows is None else (values[rows], there[rows])
    n = here @ there.T
    sums, squares = one @ there.T, one**2 @ there.T  # of row i, over what row j knows too
    others, other_squares = here @ values.T, here @ (values**2).T  # of row j, over what row i knows too
    spreads = (n * squares - sums**2, n * other_squares - others**2)
    length = np.sqrt(np.prod([np.where(spread <= 1e-12 * n**2, 0.0, spread) for spread in spreads], axis=0))
    products = n * (one @ values.T) - sums * others
    similarity: Float = np.divide(products, length, out=np.zeros_like(products), where=length > 0)
    return similarity


def label_directions(Y: ArrayLike) -> Float:
    """Label rows centered and scaled to unit length, so that Equation 9 is a scalar product; constant rows become 0."""
    labels = np.asarray(Y, dtype=np.float64)
    if labels.ndim != 2 or not labels.size:
        raise DataError(f"fuzzy.label_similarity: Y must be (n_samples, n_labels); got shape {labels.shape}.")
    centered = labels - labels.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centered, axis=1, keepdims=True)
    constant = np.ptp(labels, axis=1, keepdims=True) <= 1e-12
    return np.where(constant, 0.0, centered / np.where(constant, 1.0, length))


def least_similar(similarity: ArrayLike, n_neighbors: int, irrelevant: str = "least") -> Int:
    """DT(x_i), the different-class sample set of each row: its `n_neighbors` least similar rows, itself excluded.

    `irrelevant="nonnegative"` takes the smallest non-negative similarities instead (the published code of GRMFS);
    there may be fewer than `n_neighbors`. Similarities are compared after rounding to 12 decimals, so that equal
    label rows tie, and ties go to the smaller row number. Returns (n_samples, n_neighbors), -1 where there is none.

    >>> similarity = [[1, 0.2, -0.5], [0.2, 1, 0.2], [-0.5, 0.2, 1]]
    >>> least_similar(similarity, 1).ravel()
    array([2, 0, 0])
    >>> least_similar(similarity, 1, "nonnegative").ravel()
    array([1, 0, 1])
    """
    matrix = _square(similarity)
    return pick_least_similar(matrix, np.arange(len(matrix)), n_neighbors, irrelevant)


def pick_least_similar(similarity: Float, rows: Int, n_neighbors: int, irrelevant: str = "least") -> Int:
    """`least_similar` for some rows only: line t of `similarity` belongs to row `rows[t]` (for blocked searches)."""
    check_choice("fuzzy.least_similar", "irrelevant", irrelevant, IRRELEVANT_RULES)
    rank = rounded(similarity, DECIMALS)
    if irrelevant == "nonnegative":
        rank[rank < 0] = np.inf
    return _first(rank, rows, n_neighbors)


def most_similar(similarity: ArrayLike, n_neighbors: int) -> Int:
    """ST(x_i), the same-class sample set of each row: its `n_neighbors` most similar rows, itself excluded.

    Rounding and ties as in `least_similar`. `similarity` is (n_samples, n_samples); returns (n_samples, n_neighbors).

    >>> most_similar([[1, 0.2, -0.5], [0.2, 1, 0.2], [-0.5, 0.2, 1]], 1).ravel()
    array([1, 0, 1])
    """
    matrix = _square(similarity)
    return _first(-rounded(matrix, DECIMALS), np.arange(len(matrix)), n_neighbors)


def neighbor_lower_approximation(R: ArrayLike, different: Int) -> Float:
    """k-nearest-neighbor lower approximation, Equation 10: (1/k) Σ_j (1 - R(x_i, x_j)), x_j in DT(x_i).

    A neighbor that does not exist (-1) adds nothing and still counts in k. Returns (n_samples,).

    >>> neighbor_lower_approximation([[1, 0.75], [0.75, 1]], np.array([[1], [0]]))
    array([0.25, 0.25])
    """
    matrix = check_relation("fuzzy.neighbor_lower_approximation", R)
    return _neighbor_mean(1 - matrix, different)


def neighbor_upper_approximation(R: ArrayLike, same: Int) -> Float:
    """k-nearest-neighbor upper approximation, Equation 11: (1/k) Σ_j R(x_i, x_j), x_j in ST(x_i).

    R has shape (n_samples, n_samples), `same` (n_samples, n_neighbors). Returns (n_samples,).

    >>> neighbor_upper_approximation([[1, 0.75], [0.75, 1]], np.array([[1], [0]]))
    array([0.75, 0.75])
    """
    return _neighbor_mean(check_relation("fuzzy.neighbor_upper_approximation", R), same)


def dependency(
    X: ArrayLike,
    Y: ArrayLike,
    radius: ArrayLike,
    n_neighbors: int = 3,
    kind: str = "distance",
    irrelevant: str = "least",
    *,
    nominal: ArrayLike = (),
) -> Float:
    """k-nearest-neighbor fuzzy dependency of the labels on each feature, Equation 12: the mean of Equation 10.

    X has shape (n_samples, n_features), scaled; `radius` (n_features,) or one number; `nominal` holds column indices or
    is a mask.
    Returns (n_features,). Below, feature 0 separates the unlike rows, feature 1 does not:

    >>> dependency([[0.0, 0.5], [0.1, 0.6], [1.0, 0.5]], [[1, 0], [1, 0], [0, 1]], radius=0.2, n_neighbors=1)
    array([1.        , 0.03333333])
    """
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"fuzzy.dependency: X must be (n_samples, n_features); got shape {table.shape}.")
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), table.shape[1:])
    by_name = np.zeros(table.shape[1], dtype=bool)
    try:
        by_name[np.asarray(nominal, dtype=None if np.size(nominal) else np.int64)] = True
    except IndexError:
        raise ParameterError(
            f"fuzzy.dependency: nominal={nominal!r} goes beyond the {table.shape[1]} features of X."
        ) from None
    different = least_similar(label_similarity(Y), n_neighbors, irrelevant)
    if len(different) != len(table):
        raise DataError(
            f"fuzzy.dependency: X has {len(table)} rows and Y {len(different)}; they must be the same rows."
        )
    relations = (
        relation(x, eps, kind, nominal=bool(named)) for x, eps, named in zip(table.T, radii, by_name, strict=True)
    )
    return np.array([neighbor_lower_approximation(R, different).mean() for R in relations])


def soft_decisions(R: ArrayLike, Y: ArrayLike) -> Float:
    """Fuzzy decisions Ỹ_il = Σ_j R_ij Y_jl / Σ_j R_ij: the share of x_i's class, under all features, with label l.

    R has shape (n_samples, n_samples), Y (n_samples, n_labels). Returns (n_samples, n_labels).

    >>> soft_decisions([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], [[1, 0], [0, 1], [0, 1]]).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667],
           [0.   , 1.   ]])
    """
    matrix, labels = check_relation("fuzzy.soft_decisions", R), np.asarray(Y, dtype=np.float64)
    shares: Float = (matrix @ labels) / matrix.sum(axis=1, keepdims=True)
    return shares


def _first(rank: Float, rows: Int, n_neighbors: int) -> Int:
    n_samples = rank.shape[1]
    if not 1 <= n_neighbors < n_samples:
        raise ParameterError(
            f"fuzzy.least_similar: n_neighbors must be at least 1 and below the number of labeled rows, {n_samples}; "
            f"got {n_neighbors}."
        )
    rank = rank.copy()
    rank[np.arange(len(rows)), rows] = np.inf  # a row is not its own neighbor
    chosen = ranked(-rank, decimals=DECIMALS)[:, :n_neighbors]
    return np.where(np.isinf(np.take_along_axis(rank, chosen, axis=1)), -1, chosen)


def _neighbor_mean(values: Float, neighbors: Int) -> Float:
    picked = np.take_along_axis(values, np.maximum(neighbors, 0), axis=1)
    means: Float = np.where(neighbors < 0, 0.0, picked).mean(axis=1)
    return means


def _square(similarity: ArrayLike) -> Float:
    matrix = np.asarray(similarity, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a similarity matrix must be square; got shape {matrix.shape}.")
    return matrix

"""The feature graph: correlation distance as edges, and weighted PageRank over it (Equation 13)."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float
from fedsieve.errors import ConvergenceError, DataError, ParameterError


def correlation_distance(pair_sums: ArrayLike, n_rows: int) -> Float:
    """Correlation distance D = CJE - CMI of all pairs of features, from their pair sums.

    With S_pb = Σ_ij min(r_p, r_b) and S_p = S_pp::

        D_pb = (S_p + S_b - 2 S_pb) / n²  =  (1/n²) Σ_ij |r_p - r_b|

    so D is an L1 distance between relations: 0 on itself, symmetric, within the triangle inequality.
    `pair_sums` has shape (n_features, n_features). Returns the same shape.

    >>> correlation_distance([[3.0, 2.0], [2.0, 2.0]], n_rows=2)
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    sums = _square("fuzzy.correlation_distance", pair_sums)
    own = np.diagonal(sums)
    # Rounding may leave -1e-17 between copies of one feature.
    return np.maximum(own[:, None] + own[None, :] - 2 * sums, 0.0) / float(n_rows) ** 2


@dataclass(frozen=True, eq=False)
class PageRank:
    """Scores of the vertices, iterations used, last relative change, and `flow`, the scores per edge added up."""

    scores: Float
    n_iter: int
    residual: float
    flow: float


def weighted_pagerank(
    D: ArrayLike, weights: ArrayLike, damping: float = 0.85, *, tol: float = 1e-9, max_iter: int = 500
) -> PageRank:
    """Weighted PageRank of a feature graph, Equation 13.

    G_i = (1 - ζ) W_i + ζ Σ_j G_j D_ij / deg_j with deg_j = Σ_z D_jz, the diagonal of D left out, and ζ = `damping`.
    A vertex without edges keeps (1 - ζ) W_i. The map is a contraction, so any start leads to the one answer.

    Stops when the relative L1 change is at most `tol`; raises `ConvergenceError` after `max_iter` iterations.
    D has shape (n_features, n_features), symmetric; `weights` (n_features,).

    >>> ranked = weighted_pagerank([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [3.0, 1.0, 1.0], damping=0.5)
    >>> ranked.scores.round(6)  # G_0 = 1.5 + G_1 / 2, G_1 = 0.5 + G_0 / 2, G_2 = 0.5
    array([2.333333, 1.666667, 0.5     ])
    """
    edges = _square("fuzzy.weighted_pagerank", D).copy()
    np.fill_diagonal(edges, 0.0)
    if not np.all(edges >= 0) or not np.all(np.isfinite(edges)):
        raise DataError(
            f"fuzzy.weighted_pagerank: edge weights must be finite and at least 0; got {edges.min()} to {edges.max()}."
        )
    steps = pagerank_steps(weights, edges.sum(axis=1), damping, tol=tol, max_iter=max_iter)
    flow = next(steps)
    while True:
        try:
            flow = steps.send(edges @ flow)
        except StopIteration as finished:
            ranked: PageRank = finished.value
            return ranked


def pagerank_steps(
    weights: ArrayLike, degrees: ArrayLike, damping: float, *, tol: float, max_iter: int
) -> Generator[Float, Float, PageRank]:
    """The iteration of `weighted_pagerank` without the graph: yields v, is sent D v, returns the `PageRank`.

    Whoever drives it decides where the edges live: in one matrix, or spread over sites that each hold a part.
    """
    W, deg = np.asarray(weights, dtype=np.float64), np.asarray(degrees, dtype=np.float64)
    if W.shape != deg.shape or W.ndim != 1:
        raise DataError(f"PageRank: one weight per vertex; got {W.shape} weights for {deg.shape} vertices.")
    if not 0 <= damping < 1:
        raise ParameterError(f"PageRank: damping must be in [0, 1); got {damping}.")
    scores, residual, share = W.copy(), np.inf, per_edge(deg)
    for iteration in range(1, max_iter + 1):
        inflow = yield scores * share
        updated = updated_scores(W, deg, damping, inflow)
        size = float(np.abs(updated).sum())
        residual = float(np.abs(updated - scores).sum()) / size if size else 0.0
        scores = updated
        if residual <= tol:
            return PageRank(scores, iteration, residual, float((scores * share).sum()))
    raise ConvergenceError(
        f"PageRank: relative change {residual:.2g} after {max_iter} iterations, above tol={tol:g}. "
        "Raise max_iter or tol."
    )


def per_edge(degrees: Float) -> Float:
    """1 / deg; 0 for a vertex without edges."""
    share: Float = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return share


def updated_scores(weights: Float, degrees: Float, damping: float, inflow: Float) -> Float:
    """One iteration of Equation 13, from D times the scores per edge."""
    scores: Float = (1 - damping) * weights + damping * np.where(degrees > 0, inflow, 0.0)
    return scores


def _square(owner: str, matrix: ArrayLike) -> Float:
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise DataError(f"{owner}: need one row and one column per feature; got shape {array.shape}.")
    return array

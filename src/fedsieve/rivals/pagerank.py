"""PageRank as the rivals compute it: with weights that teleport, and as MATLAB's `centrality` does.

They stop after a few sweeps, so the stopping rule is part of their result.
"""

import numpy as np

from fedsieve.arrays import Float


def matlab_pagerank(
    weights: Float, start: Float | None = None, *, damping: float = 0.85, tol: float = 1e-4, max_iter: int = 100
) -> Float:
    """Importance of each node, (d,): c <- damping * (A (c / deg) + Σ of the sinks' c / d) + (1 - damping) / d.

    `weights` is A, (d, d), non-negative with a zero diagonal: A[p, b] is the edge from b to p. `deg` are A's column
    sums; a node with deg 0 is a sink, whose importance goes to all nodes alike. `start` is 1 / d each if not given.
    Stops when no entry has changed by more than `tol`, or after `max_iter` sweeps: the change shrinks by `damping` in
    each sweep, so the defaults always end by `tol`.

    >>> matlab_pagerank(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), tol=1e-12).round(4)
    array([0.4865, 0.2568, 0.2568])
    """
    n_nodes = len(weights)
    degrees = weights.sum(axis=0)
    sinks = degrees == 0
    shares = weights / np.where(sinks, 1.0, degrees)
    ranks: Float = np.full(n_nodes, 1.0 / n_nodes) if start is None else np.asarray(start, dtype=np.float64)
    for _ in range(max_iter):
        previous = ranks
        ranks = damping * (shares @ previous + previous[sinks].sum() / n_nodes) + (1.0 - damping) / n_nodes
        if np.abs(ranks - previous).max() <= tol:
            break
    return ranks


def personal_pagerank(edges: Float, weights: Float, *, damping: float, tol: float, max_iter: int) -> Float:
    """G = (1 - ζ) W + ζ A (G / deg), where deg are column sums; what reaches a vertex without outgoing edges is lost.

    `fuzzy.weighted_pagerank` is the same for undirected graphs. Stops at a relative L1 change of `tol`.

    >>> edges = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> personal_pagerank(edges, np.array([3.0, 1.0, 1.0]), damping=0.5, tol=1e-9, max_iter=100).round(6)
    array([2.333333, 1.666667, 0.5     ])
    """
    degrees = edges.sum(axis=0)
    shares = edges / np.where(degrees == 0, 1.0, degrees)
    scores = weights
    for _ in range(max_iter):
        previous, scores = scores, (1 - damping) * weights + damping * (shares @ scores)
        if np.abs(scores - previous).sum() <= tol * np.abs(scores).sum():
            break
    return scores

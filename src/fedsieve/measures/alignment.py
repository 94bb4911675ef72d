"""Features taken one by one so that together they resemble the labels most, and each other little."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.rounding import rounded


def greedy_alignment(relevance: Float, likeness: Float) -> Int:
    """All features, in the order in which each next one makes Σ_p b_p / √(Σ_pq G_pq) over the taken ones largest.

    With b_p = ‖cov(x_p, labels)‖² and G_pq = cov(x_p, x_q)² this is the alignment (the cosine) of the linear kernels of
    the taken features and of the labels. Ties go to the smaller index; features without variance come last.

    >>> G = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> greedy_alignment(np.array([1.0, 0.9, 0.8]), G)  # the second is much like the first
    array([0, 2, 1])
    """
    own = np.diagonal(likeness)
    varying = own > 0
    left, order = varying.copy(), np.empty(len(relevance), dtype=np.int64)
    n_varying = int(varying.sum())
    gained, spent, shared = 0.0, 0.0, np.zeros(len(relevance))
    for place in range(n_varying):
        alignment = np.zeros(len(relevance))
        alignment[left] = (gained + relevance[left]) / np.sqrt(spent + 2 * shared[left] + own[left])
        taken = int(np.argmax(np.where(left, rounded(alignment), -1.0)))
        order[place] = taken
        left[taken] = False
        gained += relevance[taken]
        spent += 2 * shared[taken] + own[taken]
        shared += likeness[:, taken]
    order[n_varying:] = np.flatnonzero(~varying)
    return order


def mean_ranks(scores: Float) -> Float:
    """The rank of each score, 0 for the largest; equal ones share the mean of their ranks.

    >>> mean_ranks(np.array([0.2, 0.5, 0.2, 0.0]))
    array([1.5, 0. , 1.5, 3. ])
    """
    _, place, counts = np.unique(-rounded(scores), return_inverse=True, return_counts=True)
    ranks: Float = np.cumsum(counts) - (counts + 1) / 2
    return ranks[place.ravel()]

"""From scores to an order, and how many features to keep when nobody says; ties are a rule here, not an accident."""

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Int

TIE = 1e-9
"""Neighboring scores closer than this share of the largest one tie."""


def order_by_score(scores: ArrayLike, last: Bool | None = None) -> Int:
    """Feature indices, best first.

    Neighboring scores closer than 1e-9 of the largest tie, and ties go to the smaller index: copies of a feature
    have equal scores up to rounding and must not swap with the route a number took. The features marked in `last`
    (no vertices of the graph) follow in index order.

    >>> order_by_score([0.5, 0.7, 0.5 + 1e-12, 0.9])
    array([3, 1, 0, 2])
    >>> order_by_score([0.5, 0.7, 0.9], last=np.array([False, True, False]))
    array([2, 0, 1])
    """
    values = np.asarray(scores, dtype=np.float64)
    behind = np.zeros(len(values), dtype=bool) if last is None else last
    ranked = np.flatnonzero(~behind)
    if len(ranked):
        ranked = ranked[np.argsort(-values[ranked], kind="stable")]
        sorted_values = values[ranked]
        gaps = sorted_values[:-1] - sorted_values[1:]
        tie_group = np.concatenate([[0], np.cumsum(gaps >= TIE * np.abs(values[~behind]).max())])
        ranked = ranked[np.lexsort((ranked, tie_group))]
    return np.concatenate([ranked, np.flatnonzero(behind)]).astype(np.int64)


def default_n_features(n_features: int) -> int:
    """How many features to keep by default: a share that falls as the table widens, at least one.

    >>> [default_n_features(d) for d in (1, 68, 72, 103, 499, 1001)]
    [1, 27, 29, 31, 150, 100]
    """
    share = 0.4 if n_features < 100 else 0.3 if n_features < 500 else 0.2 if n_features < 1000 else 0.1
    return max(1, round(share * n_features))

"""The rule for order and ties: scores are compared after rounding, larger ones come first, ties go by index.

The last digits of a score depend on the order of additions, and so on the machine. Rounding them away first makes
every order the same everywhere, and equal features tie. Also how many of the best are kept when nobody says.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float, Int

DECIMALS = 10
"""How many decimals of a score count, in units of the largest one's power of ten."""


def rounded(values: ArrayLike, decimals: int | None = None) -> Float:
    """Values to so many decimals; `None`: in units of the largest one's power of ten, to `DECIMALS` of them.

    >>> rounded([0.1 + 0.2, 0.3])
    array([3., 3.])
    >>> rounded([0.126, 12.0], decimals=2)
    array([ 0.13, 12.  ])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if decimals is not None:
        return np.round(numbers, decimals)
    largest = float(np.abs(numbers).max(initial=0.0))
    power = 10.0 ** math.floor(math.log10(largest)) if 0 < largest < math.inf else 1.0
    scale = max(power, math.ulp(0.0))  # of the smallest numbers there is no smaller power
    return np.round(numbers / scale, DECIMALS)


def ranked(*scores: ArrayLike, decimals: int | None = None, last: Bool | None = None) -> Int:
    """Indices, best first: by the first score, ties by the next, then by index; scores are `rounded` first.

    What is marked in `last` follows all others, in the same order. Tables are ranked row by row.

    >>> ranked([0.3, 0.1 + 0.2, 0.5])
    array([2, 0, 1])
    >>> ranked([0.3, 0.3, 0.5], [1.0, 2.0, 3.0], last=np.array([False, False, True]))
    array([1, 0, 2])
    """
    keys = [-rounded(score, decimals) for score in reversed(scores)]
    order: Int = np.lexsort(keys if last is None else [*keys, last])  # a stable sort: ties stay in index order
    return order


def best_of(candidates: Bool, *scores: Float, decimals: int | None = None) -> int:
    """The index of the best candidate by the first score, ties by the next, then by index.

    A score is `rounded` among the candidates still tied.

    >>> best_of(np.array([True, True, False]), np.array([0.3, 0.1 + 0.2, 0.5]))
    0
    """
    remaining = np.flatnonzero(candidates)
    for score in scores:
        values = rounded(score[remaining], decimals)
        remaining = remaining[values == values.max()]
    return int(remaining[0])


def tie_levels(scores: ArrayLike, gap: float) -> Float:
    """Whole numbers in the order of the scores: neighbors closer than `gap` of the largest magnitude share one.

    So ties form chains, whose ends may be further apart. Rank levels with `decimals=0`.

    >>> tie_levels([0.5, 0.7, 0.5 + 1e-12, 0.9], gap=1e-9)
    array([0., 1., 0., 2.])
    """
    values = np.asarray(scores, dtype=np.float64)
    if not len(values):
        return values
    falling = np.argsort(-values, kind="stable")
    apart = values[falling[:-1]] - values[falling[1:]] >= gap * np.abs(values).max()
    levels = np.zeros(len(values))
    levels[falling] = apart.sum() - np.concatenate([[0], np.cumsum(apart)])
    return levels


def places(order: Int) -> Int:
    """The place of each index in an order, 0 for the first.

    >>> places(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


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
    counted = np.ones(len(values), dtype=bool) if last is None else ~last
    levels = np.zeros(len(values))
    levels[counted] = tie_levels(values[counted], TIE)
    return ranked(levels, decimals=0, last=last)


def n_kept(wanted: Any, n_features: int) -> int:
    """How many features to keep: a number as it is, a share as scikit-learn's RFE rounds it, None for the default.

    >>> n_kept(5, 10), n_kept(0.39, 10), n_kept(0.01, 10), n_kept(None, 10)
    (5, 3, 1, 4)
    """
    if wanted is None:
        return default_n_features(n_features)
    return max(1, int(n_features * wanted)) if isinstance(wanted, float) else int(wanted)


def default_n_features(n_features: int) -> int:
    """How many features to keep by default: a share that falls as the table widens, at least one.

    >>> [default_n_features(d) for d in (1, 68, 72, 103, 499, 1001)]
    [1, 27, 29, 31, 150, 100]
    """
    share = 0.4 if n_features < 100 else 0.3 if n_features < 500 else 0.2 if n_features < 1000 else 0.1
    return max(1, round(share * n_features))

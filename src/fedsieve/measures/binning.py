"""Bins per column, and the range that follows from how many values fall into each: robust, and no site's own extreme.

Edges come from declared bounds or from the labeled rows' quantiles; beyond the outermost ones lie two open bins. A bin
may hold a single value (a point): of columns with one or two values, and of codes.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import inf, nextafter

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.bulk import in_bulk

N_BINS = 32  # between declared bounds
INNER = np.linspace(0.02, 0.98, 25)  # quantiles of labeled values that become edges
OUTER = np.array([0.125, 0.25])  # edges beyond them, in units of their span: so far one site can stretch a range
TAIL = 0.005  # share of all values that a range may leave out at each end
MAX_EDGES = 2048  # of one column: two for each of the codes that a nominal column may have
MOST_EDGES = N_BINS + 1  # of a column of numbers; those of quantiles and points are fewer
MOST_POINTS = 2  # of a column of numbers
LEAST_WIDTH = 1 / 256  # of a bin that is no point, as a share of all bins of its column together


def edges_between(low: float, high: float) -> Float:
    """Edges of bins of one width between declared bounds."""
    return np.unique(np.linspace(low, high, N_BINS + 1))


def edges_of_points(points: Sequence[float] | Float) -> Float:
    """Edges around single values: the bin that begins at a point holds nothing else."""
    values = np.unique(np.asarray(points, dtype=np.float64))
    return np.unique(np.concatenate([values, np.nextafter(values, np.inf)]))


ZERO_AND_ONE = edges_of_points([0.0, 1.0])


def edges_of_values(values: Float) -> Float:
    """Edges for a column of numbers of which these are some, missing ones left out, and of few the far ones.

    One or two values are points (0 and 1 where only one of them is there), with edges beyond them unless they are 0 and
    1: the column may have other values elsewhere. More are cut at their quantiles, and beyond. One value that is nearly
    all there is gets a point too, and the others a span of their own.

    >>> edges_of_values(np.array([0.0, 0.0, 0.0])).round(3)
    array([0., 0., 1., 1.])
    >>> edges_of_values(np.array([8.0, 8.0])).round(3)
    array([ 6.,  7.,  8.,  8.,  9., 10.])
    """
    values = values[np.isfinite(values)]
    if len(values) * (1 - INNER[-1]) < 1:  # the outermost quantiles are single values, which may be typing errors
        values = values[in_bulk(values[:, None]).ravel()]
    if np.all((values == 0) | (values == 1)):
        return ZERO_AND_ONE
    values = np.sort(values)
    distinct = values[np.append(True, values[1:] > values[:-1])]
    if len(distinct) <= 2:
        low, high = distinct[0], distinct[-1]
        beyond = OUTER * (high - low or abs(low))
        return np.unique(np.concatenate([low - beyond, edges_of_points(distinct), high + beyond]))
    inner = np.quantile(values, INNER, method="inverted_cdf")  # values that occur: ties stay ties
    low, high = inner[0], inner[-1]
    points = np.zeros(0)
    if low == high:
        points = edges_of_points([low])
        low, high = distinct[0], distinct[-1]
        inner = np.linspace(low, high, len(INNER))
    span = high - low
    return _not_too_near(np.unique(np.concatenate([low - OUTER * span, inner, high + OUTER * span])), points)


def _not_too_near(edges: Float, points: Float) -> Float:
    """Edges and points without edges that lie so near to the one before, or to a point, that a bin would be too narrow.

    It moves no range by more than that width, but where nearly all values come to lie in one bin.
    """
    least = LEAST_WIDTH * (edges[-1] - edges[0])
    kept = [edges[0]]
    for edge in edges[1:]:
        if edge - kept[-1] >= least and not np.any(np.abs(edge - points) < least):
            kept.append(edge)
    return np.unique(np.concatenate([points, kept]))


def too_fine(edges: Float) -> str:
    """What makes bins of numbers finer than those made here, in words; empty where nothing does.

    >>> too_fine(edges_between(0.0, 1.0)), too_fine(edges_of_values(np.array([3.0, 8.0, 8.0])))
    ('', '')
    >>> too_fine(np.array([0.0, 1.0, 1.001, 2.0]))
    'narrower than 1/256 of all its bins together'
    """
    if len(edges) > MOST_EDGES:
        return f"with {len(edges)} edges, above {MOST_EDGES}"
    if are_too_fine(edges, np.array([len(edges)])).any():
        return f"narrower than 1/{1 / LEAST_WIDTH:g} of all its bins together"
    return ""


def are_too_fine(edges: Float, n_edges: Int) -> Bool:
    """For which of several columns, whose edges stand one after the other, the bins are finer than those made here."""
    column, ends = np.repeat(np.arange(len(n_edges)), n_edges), np.cumsum(n_edges)
    least = LEAST_WIDTH * (edges[ends - 1] - edges[ends - n_edges])
    low, high, here = edges[:-1], edges[1:], column[:-1]
    narrow = (here == column[1:]) & (high - low < least[here])
    n_narrow = np.bincount(here[narrow], minlength=len(n_edges))
    n_wrong = np.bincount(here[narrow & (high != np.nextafter(low, inf))], minlength=len(n_edges))
    return (n_edges > MOST_EDGES) | (n_narrow > MOST_POINTS) | (n_wrong > 0)


def around_codes(edges: Float) -> bool:
    """Whether all edges are those around whole numbers.

    >>> around_codes(edges_of_codes(-1.0, 3.0)), around_codes(np.array([0.0, 0.5]))
    (True, False)
    """
    return np.array_equal(edges, edges_of_points(np.floor(edges)))


def around_points(edges: Float) -> bool:
    """Whether all edges are those around single values, as of columns with one or two values.

    >>> around_points(edges_of_points([0.0, 1.0])), around_points(edges_between(0.0, 1.0))
    (True, False)
    """
    return np.array_equal(edges, edges_of_points(edges[::2]))


def edges_of_codes(low: float, high: float) -> Float:
    """Edges around every whole number of a range of codes."""
    return edges_of_points(np.arange(low, high + 1))


def bin_counts(column: Float, edges: Float) -> Int:
    """How many present values lie in each bin; a value on an edge lies above it.

    >>> bin_counts(np.array([-1.0, 0.0, 0.5, 2.0, np.nan]), np.array([0.0, 1.0]))
    array([1, 2, 1])
    """
    counts: Int = bin_counts_of(column[:, None], edges)[0]
    return counts


def bin_counts_of(columns: Float, edges: Float) -> Int:
    """The same of several columns, (n_rows, n_columns), in the same bins: (n_columns, n_bins)."""
    n_columns, n_bins = columns.shape[1], len(edges) + 1
    place = np.searchsorted(edges, columns, side="right") + n_bins * np.arange(n_columns)
    counts: Int = np.bincount(place.ravel(), minlength=n_columns * n_bins).reshape(n_columns, n_bins)
    counts[:, -1] -= np.count_nonzero(np.isnan(columns), axis=0)  # which are sorted behind all numbers
    return counts


def robust_range(edges: Float, counts: Int) -> tuple[float, float]:
    """The range of a column whose values fall into bins so often: all but `TAIL` at each end, between finite edges.

    Where all values lie in points, as codes do, or the bulk of them in one bin, the range reaches to the outermost bins
    in use: nothing that has a finite edge beyond it is clipped. Without values, low is above high.

    >>> edges = np.array([0.0, 1.0, 2.0, 3.0])
    >>> robust_range(edges, np.array([1, 500, 400, 500, 1]))
    (0.0, 3.0)
    >>> robust_range(edges, np.array([0, 999, 0, 1, 0]))
    (0.0, 3.0)
    """
    ends, numbers = edges.tolist(), counts.tolist()  # of so few numbers, plain ones are faster
    n = sum(numbers)
    if n == 0:
        return inf, -inf
    below = list(accumulate(numbers))
    first, last = bisect_right(below, TAIL * n), min(bisect_right(below, (1 - TAIL) * n), len(numbers) - 1)
    used = [place for place, number in enumerate(numbers) if number]
    if first == last or all(_is_point(ends, place) for place in used):
        first, last = used[0], used[-1]
    low, high = ends[max(first - 1, 0)], ends[min(last, len(ends) - 1)]
    return low, ends[last - 1] if _is_point(ends, last) else high


def n_beyond(edges: Float, counts: Int, low: float, high: float) -> int:
    """How many values lie in bins beyond a range that ends at edges; a value that is its upper end may be among them.

    >>> n_beyond(np.array([0.0, 1.0, 2.0]), np.array([3, 500, 500, 4]), 0.0, 2.0)
    7
    >>> n_beyond(ZERO_AND_ONE, np.array([0, 5, 0, 5, 0]), 0.0, 1.0)
    0
    """
    ends = edges.tolist()
    first_above = bisect_right(ends, high)
    above = first_above + _is_point(ends, first_above)
    return int(counts[: bisect_right(ends, low)].sum() + counts[above:].sum())


def _is_point(edges: list[float], place: int) -> bool:
    """Whether the bin between two neighboring edges holds one number."""
    return 0 < place < len(edges) and edges[place] == nextafter(edges[place - 1], inf)

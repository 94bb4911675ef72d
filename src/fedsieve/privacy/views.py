"""Groups of rows, or of pairs of rows, that a column's views of several runs tell apart: each must be large enough.

Clipped to one range in one run and to another in the next, a column differs between the two in the rows beyond alone:
the difference of both answers is the sum of these rows. Bins are groups of rows by themselves, and a relation of rows
that lie near each other makes groups of pairs.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.measures.entropies import unit_bins
from fedsieve.messages.base import View
from fedsieve.messages.columns import scaled
from fedsieve.values import COUNTED_VALUES, LARGEST, present_values, usual_value

SPARE = 4  # times as many as are in a sample on average: of 20 expected, fewer than 5 come once in 50,000 samples
Views: TypeAlias = Mapping[str, Sequence[View]]
"""How requests saw each column, by its name."""


def with_views(known: Views, more: Mapping[str, View]) -> dict[str, list[View]]:
    """Known views and those of one more request, which come last; a range without values is none."""
    joined = {name: list(views) for name, views in known.items()}
    for name, view in more.items():
        if view[0] <= view[1]:
            joined[name] = [*(one for one in joined.get(name, []) if one != view), view]
    return joined


def tells_few_apart(column: Float, views: Sequence[View], min_cell: int) -> bool:
    """Whether these views of a column together single out fewer than `min_cell` rows.

    >>> x = np.arange(100.0)
    >>> tells_few_apart(x, [View(0.0, 90.0)], 5), tells_few_apart(x, [View(0.0, 90.0), View(0.0, 97.0)], 5)
    (False, True)
    """
    present = present_values(column)
    if _relates_few(present, views, min_cell):
        return True
    lows, highs = ({view[end] for view in views if not view.n_bins} for end in (0, 1))
    several = len(lows) > 1 or len(highs) > 1  # where all ranges end alike, no difference tells who lies beyond
    if not len(present) or not (several or any(view.n_bins for view in views)):
        return False
    cell = np.zeros(len(present), dtype=np.int64)
    for view in views:
        if view.n_bins:
            cell = _both(cell, in_bins(present, view))
    if len(lows) > 1:
        cell = _both(cell, np.searchsorted(sorted(lows), present, side="left"))
    if len(highs) > 1:
        cell = _both(cell, np.searchsorted(sorted(highs), present, side="right"))
    inside = np.clip(present, min(lows), max(highs)) if several else np.broadcast_to(0.0, len(present))
    return any(_is_few(inside[cell == one], min_cell) for one in range(int(cell.max()) + 1))


def _both(cell: Int, other: Int) -> Int:
    """The cells of two divisions of rows together, numbered from 0: of a column's values there are never many."""
    n_others = int(other.max()) + 1
    code = cell * n_others
    code += other
    number: Int = np.cumsum(np.bincount(code) > 0) - 1
    return number[code]


def _relates_few(values: Float, views: Sequence[View], min_cell: int) -> bool:
    """Whether fewer than `min_cell` pairs of rows are related, or are in one view and not in another.

    A sum over related pairs is then one about these pairs, or the difference of two sums is. Pairs that are related
    at one distance are so at any larger one, so that it is enough to look from each distance to the next. Where a
    sample is compared, so many must be related that hardly any sample has fewer than `min_cell` of them.
    """
    if len(values) < 2:
        return False
    own = float(values.min()), float(values.max())
    # of a site's own ranges, which hold all values, nobody knows the ends
    seen = [(own if view.high == LARGEST else view[:2], view.reach) for view in views if view.reach > 0]
    distances = {reach * (high - low) for (low, high), reach in seen}
    least = min_cell * max(
        (_pairs_for_each(len(values), view.max_pairs) for view in views if view.reach > 0), default=1
    )
    for low, high in {ends for ends, _ in seen}:
        if low < high:
            ordered = np.sort(_scaled(values, low, high))
            n_pairs = [_n_near(ordered, distance / (high - low)) for distance in sorted(distances)]
            if any(0 < more < least for more in np.diff([0, *n_pairs])):
                return True
    return False


def _pairs_for_each(n_rows: int, max_pairs: int) -> float:
    """How many pairs of rows must be related so that, as good as surely, one of them or more is in the sample."""
    n_pairs = kernels.all_pairs(n_rows)
    if not max_pairs or n_pairs <= max_pairs:
        return 1.0
    return SPARE * n_pairs / kernels.pairs_looked_at(n_rows, max_pairs)


def _n_near(ordered: Float, distance: float) -> int:
    """How many pairs are at most so far apart."""
    beyond = np.searchsorted(ordered, ordered + distance, side="right")
    return int((beyond - 1 - np.arange(len(ordered))).sum())


def _is_few(values: Float, min_cell: int) -> bool:
    """Few rows, or all but a few with one value, which a shift makes 0."""
    return len(values) < min_cell or 0 < usual_value(values)[1] < min_cell


def in_bins(column: Float, view: View) -> Int:
    """The bin of each value."""
    bins = np.empty(len(column), dtype=np.int64)
    for start in range(0, len(column), COUNTED_VALUES):  # a tall column takes no copies as a whole
        some = slice(start, start + COUNTED_VALUES)
        bins[some] = unit_bins(_scaled(column[some], view.low, view.high), view.n_bins)
    return bins


def _scaled(column: Float, low: float, high: float) -> Float:
    values: Float = scaled(column[:, None], np.array([low]), np.array([high]), np.zeros(1, dtype=bool))[0][:, 0]
    return values

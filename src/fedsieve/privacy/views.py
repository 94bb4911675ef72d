"""Groups of rows, or of pairs of rows, that a column's views of several runs tell apart: each must be large enough.

Clipped to one range in one run and to another in the next, a column differs between the two in the rows beyond alone:
the difference of both answers is the sum of these rows. Bins are groups of rows by themselves, and a relation of rows
that lie near each other makes groups of pairs.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.entropies import unit_bins
from fedsieve.messages.base import View
from fedsieve.messages.columns import scaled
from fedsieve.tables import LARGEST

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
    present = column[~np.isnan(column)]
    if _relates_few(present, views, min_cell):
        return True
    lows, highs = ({view[end] for view in views if not view.n_bins} for end in (0, 1))
    cells = [in_bins(present, view) for view in views if view.n_bins]
    inside = np.zeros(len(present))
    if len(lows) > 1:  # where all ranges end alike, no difference tells who lies beyond
        cells.append(np.searchsorted(sorted(lows), present, side="left"))
    if len(highs) > 1:
        cells.append(np.searchsorted(sorted(highs), present, side="right"))
    if len(lows) > 1 or len(highs) > 1:
        inside = np.clip(present, min(lows), max(highs))
    if not cells or not len(present):
        return False
    _, cell = np.unique(np.column_stack(cells), axis=0, return_inverse=True)
    return any(_is_few(inside[cell.ravel() == one], min_cell) for one in range(int(cell.max()) + 1))


def _relates_few(values: Float, views: Sequence[View], min_cell: int) -> bool:
    """Whether fewer than `min_cell` pairs of rows are related, or are in one view and not in another.

    A sum over related pairs is then one about these pairs, or the difference of two sums is. Pairs that are related
    at one distance are so at any larger one, so that it is enough to look from each distance to the next.
    """
    if len(values) < 2:
        return False
    own = float(values.min()), float(values.max())
    # of a site's own ranges, which hold all values, nobody knows the ends
    seen = [(own if view.high == LARGEST else view[:2], view.reach) for view in views if view.reach > 0]
    distances = {reach * (high - low) for (low, high), reach in seen}
    for low, high in {ends for ends, _ in seen}:
        if low < high:
            ordered = np.sort(_scaled(values, low, high))
            n_pairs = [_n_near(ordered, distance / (high - low)) for distance in sorted(distances)]
            if any(0 < more < min_cell for more in np.diff([0, *n_pairs])):
                return True
    return False


def _n_near(ordered: Float, distance: float) -> int:
    """How many pairs are at most so far apart."""
    beyond = np.searchsorted(ordered, ordered + distance, side="right")
    return int((beyond - 1 - np.arange(len(ordered))).sum())


def _is_few(values: Float, min_cell: int) -> bool:
    """Few rows, or all but a few with one value, which a shift makes 0."""
    _, counts = np.unique(values, return_counts=True)
    n_others = len(values) - int(counts.max())
    return len(values) < min_cell or 0 < n_others < min_cell


def in_bins(column: Float, view: View) -> Int:
    """The bin of each value."""
    return unit_bins(_scaled(column, view.low, view.high), view.n_bins)


def _scaled(column: Float, low: float, high: float) -> Float:
    values: Float = scaled(column[:, None], np.array([low]), np.array([high]), np.zeros(1, dtype=bool))[0][:, 0]
    return values

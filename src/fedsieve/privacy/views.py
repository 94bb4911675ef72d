"""Groups of rows that a column's ranges of several runs, or its bins, tell apart: each must be large enough.

Clipped to one range in one run and to another in the next, a column differs between the two in the rows beyond alone:
the difference of both answers is the sum of these rows. Bins are groups of rows by themselves.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.measures.entropies import unit_bins
from fedsieve.messages.base import View
from fedsieve.messages.columns import scaled

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
    >>> tells_few_apart(x, [(0.0, 90.0, 0)], 5), tells_few_apart(x, [(0.0, 90.0, 0), (0.0, 97.0, 0)], 5)
    (False, True)
    """
    present = column[~np.isnan(column)]
    lows, highs = ({view[end] for view in views if not view[2]} for end in (0, 1))
    cells = [in_bins(present, *view) for view in views if view[2]]
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


def _is_few(values: Float, min_cell: int) -> bool:
    """Few rows, or all but a few with one value, which a shift makes 0."""
    _, counts = np.unique(values, return_counts=True)
    n_others = len(values) - int(counts.max())
    return len(values) < min_cell or 0 < n_others < min_cell


def in_bins(column: Float, low: float, high: float, n_bins: int) -> Int:
    """The bin of each value."""
    ends = np.array([low]), np.array([high])
    return unit_bins(scaled(column[:, None], *ends, np.zeros(1, dtype=bool))[0][:, 0], n_bins)

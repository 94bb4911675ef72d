"""Groups of rows, or of pairs of rows, that a column's views of several runs tell apart: each must be large enough.

Clipped to one range in one run and to another in the next, a column differs between the two in the rows beyond alone:
the difference of both answers is the sum of these rows. Bins are groups of rows by themselves, and a relation of rows
that lie near each other makes groups of pairs. A column is looked at in parts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.measures.entropies import unit_bins
from fedsieve.messages.base import View
from fedsieve.messages.columns import scaled
from fedsieve.value_counts import Others, Parts, counted_blocks, pairs_within
from fedsieve.values import LARGEST, present_values

AT_A_TIME = 1 << 16  # rows of a part: a tall column takes no copies as a whole
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


class Groups:
    """The groups that views of a column make, as far as must be known: which still have few rows, or few others.

    >>> x = np.arange(100.0)
    >>> for views in ([View(0.0, 90.0)], [View(0.0, 90.0), View(0.0, 97.0)]):
    ...     groups = Groups(views, 5)
    ...     groups.add(x)
    ...     print(groups.has_few(lambda: [x], len(x)))
    False
    True
    """

    def __init__(self, views: Sequence[View], min_cell: int) -> None:
        lows, highs = ({view[end] for view in views if not view.n_bins} for end in (0, 1))
        self._views, self._min_cell = views, min_cell
        self._bins = [view for view in views if view.n_bins]
        self._lows, self._highs = sorted(lows), sorted(highs)
        self._several = len(lows) > 1 or len(highs) > 1  # where all ranges end alike, no difference tells who is beyond
        self._groups: dict[tuple[int, ...], _Group] = {}

    def add(self, values: Float) -> None:
        """Some more rows of the column."""
        if self._several or self._bins:
            for start in range(0, len(values), AT_A_TIME):
                self._add(present_values(values[start : start + AT_A_TIME]))

    def _add(self, present: Float) -> None:
        if not len(present):
            return
        inside = np.clip(present, self._lows[0], self._highs[-1]) if self._several else np.zeros(len(present))
        for key, rows in self._split(present):
            group = self._groups.setdefault(key, _Group(self._min_cell))
            if not group.is_enough:
                group.add(inside[rows])

    def _split(self, present: Float) -> Iterator[tuple[tuple[int, ...], Int]]:
        """Which group each row is in: by its bin in each view, and between which ends of ranges it lies."""
        ways = [in_bins(present, view) for view in self._bins]
        if len(self._lows) > 1:
            ways.append(np.searchsorted(self._lows, present, side="left"))
        if len(self._highs) > 1:
            ways.append(np.searchsorted(self._highs, present, side="right"))
        number = np.zeros(len(present), dtype=np.int64)
        for way in ways:  # groups numbered from 0: of a column's values there are never many
            code = number * (int(way.max()) + 1) + way
            number = (np.cumsum(np.bincount(code) > 0) - 1)[code]
        order = np.argsort(number, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            yield tuple(int(way[rows[0]]) for way in ways), rows

    def has_few(self, parts: Parts, n_rows: int) -> bool:
        """Whether some group has, of the whole column that was added."""
        return any(group.is_few for group in self._groups.values()) or _relates_few(
            parts, n_rows, self._views, self._min_cell
        )


class _Group:
    """Few rows, or all but a few with one value, which a shift makes 0, are too few."""

    def __init__(self, min_cell: int) -> None:
        self._n_rows, self._others = 0, Others(min_cell)

    def add(self, values: Float) -> None:
        self._n_rows += len(values)
        self._others.add(values)

    @property
    def is_enough(self) -> bool:
        return self._others.is_known

    @property
    def is_few(self) -> bool:
        return self._n_rows < self._others.enough or 0 < self._others.n_others < self._others.enough


def _relates_few(parts: Parts, n_rows: int, views: Sequence[View], min_cell: int) -> bool:
    """Whether fewer than `min_cell` pairs of rows are related, or are in one view and not in another.

    A sum over related pairs is then one about these pairs, or the difference of two sums is. Pairs that are related
    at one distance are so at any larger one, so that it is enough to look from each distance to the next. Where a
    sample is compared, so many must be related that hardly any sample has fewer than `min_cell` of them.
    """
    if not any(view.reach > 0 for view in views):
        return False
    own, n_present = _ends(parts)
    if n_present < 2:
        return False
    # of a site's own ranges, which hold all values, nobody knows the ends
    seen = [(own if view.high == LARGEST else view[:2], view.reach) for view in views if view.reach > 0]
    distances = sorted({reach * (high - low) for (low, high), reach in seen})
    least = min_cell * max(_pairs_for_each(n_present, view.max_pairs) for view in views if view.reach > 0)
    # more rows have no fewer pairs of any kind: the first ones are often enough
    return any(
        low < high
        and _has_few_pairs(lambda: [next(iter(parts()))[:AT_A_TIME]], AT_A_TIME, (low, high), distances, least)
        and _has_few_pairs(parts, n_rows, (low, high), distances, least, or_none=False)
        for low, high in {ends for ends, _ in seen}
    )


def _has_few_pairs(
    parts: Parts, n_rows: int, ends: tuple[float, float], distances: Sequence[float], least: float, or_none: bool = True
) -> bool:
    """Whether from one distance to the next there are fewer than `least` pairs; or none, which tell of nobody."""

    def blocks() -> Iterator[tuple[Float, Int]]:
        return ((_scaled(values, *ends), counts) for values, counts in counted_blocks(parts, n_rows))

    n_pairs = [pairs_within(blocks, distance / (ends[1] - ends[0])) for distance in distances]
    return any(more < least and (or_none or more > 0) for more in np.diff([0, *n_pairs]))


def _ends(parts: Parts) -> tuple[tuple[float, float], int]:
    """The smallest and the largest present value, and how many there are."""
    low, high, n_present = np.inf, -np.inf, 0
    for part in parts():
        present = present_values(part)
        if len(present):
            low, high = min(low, float(present.min())), max(high, float(present.max()))
            n_present += len(present)
    return (low, high), n_present


def _pairs_for_each(n_rows: int, max_pairs: int) -> float:
    """How many pairs of rows must be related so that, as good as surely, one of them or more is in the sample."""
    n_pairs = kernels.all_pairs(n_rows)
    if not max_pairs or n_pairs <= max_pairs:
        return 1.0
    return SPARE * n_pairs / kernels.pairs_looked_at(n_rows, max_pairs)


def in_bins(column: Float, view: View) -> Int:
    """The bin of each value."""
    return unit_bins(_scaled(column, view.low, view.high), view.n_bins)


def _scaled(column: Float, low: float, high: float) -> Float:
    values: Float = scaled(column[:, None], np.array([low]), np.array([high]), np.zeros(1, dtype=bool))[0][:, 0]
    return values

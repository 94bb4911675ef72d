"""How often each value of a column occurs: the usual value, the middle one, whether few rows have another one.

A column is anything that can be gone through in parts, again and again. No more of it is held than a block, whatever
the number of rows: the blocks are of neighboring values, and each takes a pass.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from fedsieve.arrays import Float, Int

Parts: TypeAlias = Callable[[], Iterable[Float]]
"""A column from its beginning, some values at a time; NaN where one is missing."""
BLOCK = 1 << 21  # values in a block, about
SAMPLE = 1 << 16  # of the values, by which blocks are cut
LOOKED_AT = 1 << 8  # values of a part that are looked at first: nearly always they are enough


class Usual(NamedTuple):
    """The most frequent present value, the smallest where several are, and how many present ones differ from it."""

    value: float
    n_others: int
    n_present: int


def usual_value(values: Float) -> Usual:
    """Of a column in one piece.

    >>> usual_value(np.array([2.0, 0.0, 2.0, np.nan]))
    Usual(value=2.0, n_others=1, n_present=3)
    """
    return usual_of(lambda: [values], len(values))


def usual_of(parts: Parts, n_rows: int) -> Usual:
    """Of a column in parts."""
    usual, most, n_present = np.nan, 0, 0
    for distinct, counts in counted_blocks(parts, n_rows):
        place = int(np.argmax(counts))
        if counts[place] > most:
            usual, most = float(distinct[place]), int(counts[place])
        n_present += int(counts.sum())
    return Usual(usual, n_present - most, n_present)


def counted_blocks(parts: Parts, n_rows: int) -> Iterator[tuple[Float, Int]]:
    """The different present values in order, and how often each occurs, a block at a time; at once if one is enough.

    >>> list(counted_blocks(lambda: [np.array([2.0, np.nan]), np.array([1.0, 2.0])], 4))
    [(array([1., 2.]), array([1, 2]))]
    """
    every = _counted_between(parts, -np.inf, np.inf, most=BLOCK)
    if every is not None:
        yield from [every] if len(every[0]) else []
        return
    low = -np.inf
    for high in (*_cuts(parts, n_rows), np.inf):
        found = _counted_between(parts, low, high)
        if found is not None and len(found[0]):
            yield found
        low = high


def _counted_between(parts: Parts, low: float, high: float, most: float = np.inf) -> tuple[Float, Int] | None:
    """Of the values above `low`, or any, up to `high`; `None` where more than `most` are different."""
    found, waiting, n_waiting = (np.zeros(0), np.zeros(0, dtype=np.int64)), list[Float](), 0
    for part in parts():
        waiting.append(part[(part <= high) & ((part > low) | (low == -np.inf))])
        n_waiting += len(waiting[-1])
        if n_waiting > 2 * BLOCK:  # values that occur often take no room once they are counted
            found, waiting, n_waiting = _counted(*found, waiting), [], 0
            if len(found[0]) > most:
                return None
    return _counted(*found, waiting)


def middle_of(parts: Parts, n_rows: int, n_present: int) -> float:
    """The smallest value that at least half of the present ones do not exceed: a median that occurs."""
    before, half = 0, -(-n_present // 2)
    for distinct, counts in counted_blocks(parts, n_rows):
        up_to = before + np.cumsum(counts)
        if up_to[-1] >= half:
            return float(distinct[np.searchsorted(up_to, half)])
        before = int(up_to[-1])
    return np.nan


def pairs_within(blocks: Callable[[], Iterable[tuple[Float, Int]]], distance: float) -> int:
    """How many pairs of values are at most so far apart; values come in order, some at a time, with their counts.

    >>> pairs_within(lambda: [(np.array([0.0, 1.0]), np.array([2, 1])), (np.array([1.5]), np.array([1]))], 1.0)
    4
    """
    ahead, passed, n_pairs = iter(blocks()), 0, 0
    there, before = next(ahead, None), 0
    for values, counts in blocks():
        ends, up_to, done = values + distance, np.empty(len(values), dtype=np.int64), 0
        while done < len(ends):
            if there is None:
                up_to[done:], done = before, len(ends)
                continue
            sums = np.cumsum(there[1])
            last = max(done, int(np.searchsorted(ends, there[0][-1], side="left")))  # beyond, more may come
            inside = np.searchsorted(there[0], ends[done:last], side="right")
            up_to[done:last], done = before + np.where(inside > 0, sums[inside - 1], 0), last
            if done < len(ends):
                there, before = next(ahead, None), before + int(sums[-1])
        first = passed + np.cumsum(counts) - counts
        n_pairs += int((counts * (up_to - 1 - first) - counts * (counts - 1) // 2).sum())
        passed += int(counts.sum())
    return n_pairs


class Others:
    """How many values differ from the most frequent one, as far as that is asked: up to `enough`.

    More values never make it fewer, so that a part is often all that has to be looked at.

    >>> others = Others(3)
    >>> for part in ([1.0, 1.0, 2.0], [2.0, 1.0], [5.0]):
    ...     others.add(np.array(part))
    ...     print(others.n_others)
    1
    2
    3
    """

    def __init__(self, enough: int) -> None:
        self.enough, self.n_others = enough, 0
        self._counts: dict[float, int] = {}

    @property
    def is_known(self) -> bool:
        """Whether nothing more has to be looked at."""
        return self.n_others >= self.enough

    def add(self, values: Float) -> None:
        """Some more values, none of them missing."""
        start, size = 0, LOOKED_AT
        while start < len(values) and not self.is_known:
            self._count(values[start : start + size])
            start, size = start + size, 4 * size
        if self.is_known:
            self._counts.clear()

    def _count(self, values: Float) -> None:
        usual = max(self._counts, key=self._counts.__getitem__, default=float(values[0]))
        other = values[values != usual]
        distinct, counts = np.unique(other, return_counts=True)
        if len(distinct) > self.enough:  # all but one of them are others
            self.n_others = self.enough
            return
        self._counts[usual] = self._counts.get(usual, 0) + len(values) - len(other)
        for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
            self._counts[value] = self._counts.get(value, 0) + count
        self.n_others = sum(self._counts.values()) - max(self._counts.values())


def _cuts(parts: Parts, n_rows: int) -> Float:
    """Between which values the blocks lie, by values drawn from all parts."""
    step, rng, drawn, passed = max(1, n_rows // SAMPLE), np.random.default_rng(0), [np.zeros(0)], 0
    for part in parts():
        n_drawn = (passed + len(part)) // step - passed // step
        passed += len(part)
        if n_drawn:
            drawn.append(part[rng.integers(0, len(part), n_drawn)])
    known = np.concatenate(drawn)
    known = known[~np.isnan(known)]
    if not len(known):
        return np.zeros(0)
    shares = np.arange(1, -(-n_rows // BLOCK)) * BLOCK / n_rows
    cuts: Float = np.unique(np.quantile(known, shares, method="inverted_cdf"))
    return cuts[np.isfinite(cuts)]


def _counted(distinct: Float, counts: Int, parts: list[Float]) -> tuple[Float, Int]:
    """With the values of some more parts."""
    more, n_more = np.unique(np.concatenate([np.zeros(0), *parts]), return_counts=True)
    if not len(distinct):
        return more, n_more
    every, place = np.unique(np.concatenate([distinct, more]), return_inverse=True)
    total = np.zeros(len(every), dtype=np.int64)
    np.add.at(total, place, np.concatenate([counts, n_more]))
    return every, total

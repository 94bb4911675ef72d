"""Whether views of a column tell few rows apart, by sorting rows and pairs of rows into groups one by one."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np

from fedsieve.values import LARGEST

SPARE = 4


def tells_few_apart(column, views, min_cell):
    present = [float(value) for value in column if not np.isnan(value)]
    return _few_rows(present, views, min_cell) or _few_pairs(present, views, min_cell)


def _few_rows(present, views, min_cell):
    lows, highs = ({view[end] for view in views if not view.n_bins} for end in (0, 1))
    several = len(lows) > 1 or len(highs) > 1
    if not several and not any(view.n_bins for view in views):
        return False
    groups = defaultdict(list)
    for value in present:
        bins = tuple(_bin(value, view) for view in views if view.n_bins)
        beyond = tuple(value <= low for low in sorted(lows)) if len(lows) > 1 else ()
        above = tuple(value >= high for high in sorted(highs)) if len(highs) > 1 else ()
        inside = min(max(value, min(lows)), max(highs)) if several else 0.0
        groups[bins, beyond, above].append(inside)
    for values in groups.values():
        n_others = len(values) - max(Counter(values).values())
        if len(values) < min_cell or 0 < n_others < min_cell:
            return True
    return False


def _bin(value, view):
    inside = min(max(value, view.low), view.high)
    return min(int(np.floor(round((inside - view.low) / (view.high - view.low) * view.n_bins, 9))), view.n_bins - 1)


def _few_pairs(present, views, min_cell):
    related = [view for view in views if view.reach > 0]
    n_pairs = len(present) * (len(present) - 1) // 2
    if not related or not n_pairs:
        return False
    least = min_cell
    for view in related:
        if view.max_pairs and n_pairs > view.max_pairs:
            n_next = max(1, view.max_pairs // len(present))
            least = max(least, min_cell * SPARE * n_pairs / (n_next * len(present)))
    ends = [(min(present), max(present)) if view.high == LARGEST else (view.low, view.high) for view in related]
    distances = sorted({view.reach * (high - low) for view, (low, high) in zip(related, ends, strict=True)})
    for low, high in ends:
        if low < high:
            scaled = [(min(max(value, low), high) - low) / (high - low) for value in present]
            before = 0
            for distance in distances:
                near = sum(max(a, b) <= min(a, b) + distance / (high - low) for a, b in combinations(scaled, 2))
                if 0 < near - before < least:
                    return True
                before = near
    return False

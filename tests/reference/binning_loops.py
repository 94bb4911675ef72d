"""Bins and robust ranges as the definition reads, value by value; the slow twin of `fedsieve.measures.binning`."""

import math
from collections.abc import Sequence

TAIL = 0.005


def is_point(edges: Sequence[float], place: int) -> bool:
    """Whether bin `place`, from edge place - 1 up to edge place, holds one number."""
    return 1 <= place <= len(edges) - 1 and math.nextafter(edges[place - 1], math.inf) == edges[place]


def bin_of(value: float, edges: Sequence[float]) -> int:
    """0 is below the first edge, len(edges) from the last one on."""
    place = 0
    while place < len(edges) and value >= edges[place]:
        place += 1
    return place


def bin_counts(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    counts = [0] * (len(edges) + 1)
    for value in values:
        if not math.isnan(value):
            counts[bin_of(value, edges)] += 1
    return counts


def is_too_fine(edges: Sequence[float]) -> bool:
    """More than 33 edges, more than two narrow bins, or one that is narrow and no point."""
    least = (edges[-1] - edges[0]) / 256
    narrow = [place for place in range(1, len(edges)) if edges[place] - edges[place - 1] < least]
    return len(edges) > 33 or len(narrow) > 2 or not all(is_point(edges, place) for place in narrow)


def robust_range(edges: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """The lower edge of the first bin that is kept, the upper one of the last; beyond finite edges, the outermost."""
    total = sum(counts)
    if total == 0:
        return math.inf, -math.inf
    used = [place for place, count in enumerate(counts) if count]
    kept = used
    if not all(is_point(edges, place) for place in used):
        # A bin goes where all values up to and with it are at most the tail; so at the other end.
        inner = [
            place
            for place in range(len(counts))
            if sum(counts[: place + 1]) > TAIL * total and not sum(counts[:place]) > (1 - TAIL) * total
        ]
        if len(inner) > 1:
            kept = inner
    first, last = kept[0], kept[-1]
    low = edges[first - 1] if first > 0 else edges[0]
    if is_point(edges, last):
        return low, edges[last - 1]
    return low, edges[last] if last < len(edges) else edges[-1]

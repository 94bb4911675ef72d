"""The bulk of a column by definition, one value at a time."""

import math


def in_bulk_loops(column: list[float], far: float) -> list[bool]:
    """Within `far` spans of the quartiles; all where the quartiles are one value; missing values never."""
    present = sorted(value for value in column if not math.isnan(value))
    if not present:
        return [False] * len(column)
    low, high = present[(len(present) - 1) // 4], present[3 * (len(present) - 1) // 4]
    if low == high:
        return [not math.isnan(value) for value in column]
    span = high - low
    return [low - far * span <= value <= high + far * span for value in column]

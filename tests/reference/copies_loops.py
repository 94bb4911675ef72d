"""Near copies by trying every line through two rows; the slow twin of `fedsieve.kernels.copies`."""

from itertools import combinations
from math import isnan


def n_off(x: list[float], y: list[float]) -> int | None:
    """In how many rows at least x is not a + b y, b not 0; `None` where no two rows give such a line."""
    both = [(one, other) for one, other in zip(x, y, strict=True) if not (isnan(one) or isnan(other))]
    x, y = [one for one, _ in both], [other for _, other in both]
    least = None
    for i, j in combinations(range(len(x)), 2):
        if y[i] == y[j] or x[i] == x[j]:
            continue
        slope = (x[j] - x[i]) / (y[j] - y[i])
        start = x[i] - slope * y[i]
        room = 1e-9 * (max(map(abs, x)) + abs(slope) * max(map(abs, y)))
        off = sum(abs(one - start - slope * other) > room for one, other in zip(x, y, strict=True))
        least = off if least is None else min(least, off)
    return least


def near_copies(columns: list[list[float]], most: int) -> list[tuple[int, int]]:
    """Pairs of columns with 1 to `most` rows off."""
    found = []
    for q in range(len(columns)):
        for p in range(q):
            off = n_off(columns[p], columns[q])
            if off is not None and 1 <= off <= most:
                found.append((p, q))
    return found

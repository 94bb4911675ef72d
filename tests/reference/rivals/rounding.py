"""Comparing scores without the digits that depend on the order of additions."""

import math
from collections.abc import Collection, Sequence


def rounded(scores: Sequence[float]) -> list[float]:
    """Scores divided by the power of ten of the largest absolute one, to 10 decimals.

    >>> rounded([250.0, -1.0, 0.1 + 0.2])
    [2.5, -0.01, 0.003]
    """
    largest = max((abs(float(s)) for s in scores), default=0.0)
    scale = 1.0 if largest == 0 else max(10.0 ** math.floor(math.log10(largest)), math.ulp(0.0))
    return [round(float(s) / scale, 10) for s in scores]


def best(candidates: Collection[int], *criteria: Sequence[float]) -> int:
    """The candidate with the largest first criterion, then the next one; the smallest index of those left.

    Each criterion is rounded among the candidates still in the race.

    >>> best([0, 1, 2], [0.3, 0.1 + 0.2, 0.1], [1, 2, 3])
    1
    """
    left = sorted(candidates)
    for criterion in criteria:
        values = rounded([criterion[f] for f in left])
        left = [f for f, value in zip(left, values, strict=True) if value == max(values)]
    return left[0]


def descending(*criteria: Sequence[float]) -> list[int]:
    """All indices by the first criterion, largest first, then by the next one, then by index.

    >>> descending([0.3, 0.1 + 0.2, 0.5])
    [2, 0, 1]
    """
    columns = [rounded(criterion) for criterion in criteria]
    return sorted(range(len(criteria[0])), key=lambda f: ([-column[f] for column in columns], f))

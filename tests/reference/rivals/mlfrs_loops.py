"""MLFRS: a greedy search on the distance of each row to the nearest rows whose labels differ much."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from .neighborhoods import Rows, label_rows, scaled_rows
from .rounding import best, descending


def order(X: ArrayLike, Y: ArrayLike, n_neighbors: int = 5, gain: float = 1e-3) -> list[int]:
    """Features in the order they were picked, then the rest by their own dependency."""
    rows, labels = scaled_rows(X), label_rows(Y)
    n_features = len(rows[0])
    different = different_rows(labels)
    chosen: list[int] = []
    so_far = nothing_apart(different)
    now = dependency(so_far, n_neighbors)
    while len(chosen) < n_features:
        left = [f for f in range(n_features) if f not in chosen]
        then = {f: dependency(apart(rows, different, f, so_far), n_neighbors) for f in left}
        f = best(list(then), then)
        if then[f] - now < gain - 1e-10:
            break
        chosen.append(f)
        so_far, now = apart(rows, different, f, so_far), then[f]
    single = [apart(rows, different, f, nothing_apart(different)) for f in range(n_features)]
    alone = descending([dependency(distances, n_neighbors) for distances in single])
    return chosen + [f for f in alone if f not in chosen]


def different_rows(labels: Sequence[Sequence[int]]) -> list[list[int]]:
    """Diff(i): rows that differ from row i in more labels than the mean row does, row i itself in the mean.

    >>> different_rows([[0, 0], [0, 1], [1, 1]])
    [[2], [0, 2], [0]]
    """
    n_samples = len(labels)
    sets = []
    for i in range(n_samples):
        differs = [sum(1 for a, b in zip(labels[i], other, strict=True) if a != b) for other in labels]
        sets.append([j for j in range(n_samples) if n_samples * differs[j] > sum(differs)])
    return sets


def nothing_apart(different: Sequence[Sequence[int]]) -> list[list[float]]:
    """1 - R_B of each row and each row of its Diff(i), where B is empty."""
    return [[0.0] * len(others) for others in different]


def apart(
    rows: Rows, different: Sequence[Sequence[int]], f: int, so_far: Sequence[Sequence[float]]
) -> list[list[float]]:
    """1 - R_B, at most 1, with f in B: the largest difference, that of f or the one so far."""
    return [
        [min(1.0, max(before, abs(rows[i][f] - rows[j][f]))) for j, before in zip(others, so_far[i], strict=True)]
        for i, others in enumerate(different)
    ]


def dependency(distances: Sequence[Sequence[float]], n_neighbors: int) -> float:
    """gamma_B: mean over the rows of 1 - R_B to the n_neighbors most related rows of Diff(i); 1 if Diff(i) is empty."""
    total = 0.0
    for own in distances:
        nearest = sorted(own)[:n_neighbors]
        total += sum(nearest) / len(nearest) if nearest else 1.0
    return total / len(distances)

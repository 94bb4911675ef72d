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
    now = dependency(rows, different, n_neighbors, chosen)
    while len(chosen) < n_features:
        then = {f: dependency(rows, different, n_neighbors, [*chosen, f]) for f in range(n_features) if f not in chosen}
        f = best(list(then), then)
        if then[f] - now < gain - 1e-10:
            break
        chosen.append(f)
        now = then[f]
    alone = descending([dependency(rows, different, n_neighbors, [f]) for f in range(n_features)])
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


def relation(a: Sequence[float], b: Sequence[float], chosen: Sequence[int]) -> float:
    """R_B = 1 - the largest difference in the chosen features, at least 0; 1 if none is chosen."""
    return max(0.0, 1 - max((abs(a[f] - b[f]) for f in chosen), default=0.0))


def dependency(rows: Rows, different: Sequence[Sequence[int]], n_neighbors: int, chosen: Sequence[int]) -> float:
    """gamma_B: mean over the rows of 1 - R_B to the n_neighbors most related rows of Diff(i); 1 if Diff(i) is empty."""
    total = 0.0
    for i, others in enumerate(different):
        related = sorted((relation(rows[i], rows[j], chosen) for j in others), reverse=True)[:n_neighbors]
        total += sum(1 - r for r in related) / len(related) if related else 1.0
    return total / len(rows)

"""What the neighborhood methods share: distances, neighbors, hits and misses, the margin as a radius."""

from collections.abc import Collection, Sequence

from numpy.typing import ArrayLike

from .basics import columns, distance, scaled

Rows = list[list[float]]


def scaled_rows(X: ArrayLike) -> Rows:
    """Rows with every feature in [0, 1]; a constant feature is 0."""
    features = [scaled(column) for column in columns(X)]
    return [[feature[i] for feature in features] for i in range(len(features[0]))]


def label_rows(Y: ArrayLike) -> list[list[int]]:
    return [[int(v) for v in row] for row in Y]


def nearest(rows: Rows, i: int, others: Collection[int]) -> list[int]:
    """The others from the nearest to i on, by squared distance to 10 decimals, ties to the smaller index."""

    def squared(j: int) -> float:
        return round(sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)), 10)

    return sorted(others, key=lambda j: (squared(j), j))


def hits(labels: Sequence[Sequence[int]], i: int, label: int) -> list[int]:
    """Other rows with the same value of the label."""
    return [j for j in range(len(labels)) if j != i and labels[j][label] == labels[i][label]]


def misses(labels: Sequence[Sequence[int]], i: int, label: int) -> list[int]:
    """Rows with the other value of the label."""
    return [j for j in range(len(labels)) if labels[j][label] != labels[i][label]]


def margin_radius(rows: Rows, labels: Sequence[Sequence[int]]) -> list[float]:
    """delta_i: mean over the labels of dist(nearest miss) - dist(nearest hit), at least 0.

    Labels under which row i lacks a hit or a miss are left out; without any label the radius is 0.

    >>> margin_radius([[0.0], [0.25], [1.0]], [[1], [1], [0]])
    [0.75, 0.5, 0.0]
    """
    radius = []
    for i in range(len(rows)):
        margins = []
        for label in range(len(labels[i])):
            same, other = hits(labels, i, label), misses(labels, i, label)
            if same and other:
                hit, miss = nearest(rows, i, same)[0], nearest(rows, i, other)[0]
                margins.append(_rounded_distance(rows, i, miss) - _rounded_distance(rows, i, hit))
        radius.append(max(0.0, sum(margins) / len(margins)) if margins else 0.0)
    return radius


def _rounded_distance(rows: Rows, i: int, j: int) -> float:
    return round(sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)), 10) ** 0.5


def neighbors(
    rows: Rows, i: int, chosen: Sequence[int], radius: float, among: Sequence[int] | None = None
) -> list[int]:
    """Rows within the radius of row i in the chosen features, i among them; all rows if none is chosen.

    `among` are the rows within it in some of these features, where they are known: more features bring none nearer.
    """
    own = [rows[i][f] for f in chosen]
    candidates = range(len(rows)) if among is None else among
    return [j for j in candidates if distance(own, [rows[j][f] for f in chosen]) <= radius + 1e-9]


def all_neighbors(
    rows: Rows, chosen: Sequence[int], radius: Sequence[float], among: Sequence[Sequence[int]] | None = None
) -> list[list[int]]:
    """The neighbors of every row, each with its own radius."""
    return [neighbors(rows, i, chosen, radius[i], among[i] if among else None) for i in range(len(rows))]


def carries_all(own: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the other row has every label that this row has."""
    return all(other[t] == 1 for t in range(len(own)) if own[t] == 1)

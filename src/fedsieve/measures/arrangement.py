"""Where things go in a picture, from how far they are from each other: an order for rows, and points in a plane."""

import numpy as np

from fedsieve.arrays import Float, Int

STEPS = 200
LEAST = 0.08  # of the largest distance: what is closer is drawn that far apart, or it could not be told apart


def clustered(distance: Float) -> Int:
    """An order in which neighbors are near each other: the leaves of average linkage, turned the best way.

    >>> clustered(np.array([[0, 8, 1], [8, 0, 9], [1, 9, 0]])).tolist()
    [1, 0, 2]
    """
    if len(distance) < 3:
        return np.arange(len(distance))
    from scipy.cluster.hierarchy import leaves_list, linkage  # here: a command that draws nothing loads none of it
    from scipy.spatial.distance import squareform

    condensed = squareform(distance, checks=False)
    order: Int = leaves_list(linkage(condensed, "average", optimal_ordering=True)).astype(np.int64)
    return order


def laid_out(distance: Float) -> Float:
    """Points in [0, 1]², (n, 2), about as far apart as the distances say: classical scaling, then majorized stress.

    The same distances give the same points; the stress never rises from step to step.
    """
    n = len(distance)
    if n == 1:
        return np.full((1, 2), 0.5)
    wanted = np.maximum(distance, LEAST * distance.max()) if distance.max() > 0 else np.ones((n, n))
    wanted = np.where(np.eye(n, dtype=bool), 0.0, wanted)
    points = _classical(wanted)
    for _ in range(STEPS):
        apart = distances(points)
        ratio = np.divide(wanted, apart, out=np.zeros_like(apart), where=apart > 0)
        moved = -ratio
        np.fill_diagonal(moved, ratio.sum(axis=1))
        points = moved @ points / n
    points = points - points.min(axis=0)
    points = points / max(float(points.max()), np.finfo(float).tiny)
    centered: Float = points + (1 - points.max(axis=0)) / 2
    return centered


def distances(points: Float) -> Float:
    """Between all pairs of points."""
    apart: Float = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return apart


def _classical(wanted: Float) -> Float:
    """The two main axes of the points, each with its largest end on the positive side; no two points in one place."""
    n = len(wanted)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-center @ wanted**2 @ center / 2)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    ends = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    points = axes * np.where(ends < 0, -1.0, 1.0)
    angle = np.arange(n) * 2.399963  # a spiral of even density
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(np.arange(n) / n)[:, None]
    apart: Float = points + 1e-3 * wanted.max() * circle
    return apart

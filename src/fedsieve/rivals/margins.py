"""How far each sample is from its own kind and from the other kind under each label: hits, misses, and their margin.

A hit of sample i under label l is another sample with the same value of that label, a miss one with the other value.
Distances are Euclidean over all features; where squares agree in ten decimals the smaller index is nearer.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import in_order

DECIMALS = 10
PART = 64  # samples that a thread takes at a time

Labels = NDArray[np.uint8]
"""0/1 labels by column, (n_labels, n_samples)."""


def margin_radii(X: Float, Y: Float) -> Float:
    """Mean over the labels of (distance to the nearest miss - distance to the nearest hit), but at least 0.

    X is scaled. Labels under which a sample has no hit or no miss are left out; without any label the radius is 0.

    >>> margin_radii(np.array([[0.0], [0.1], [0.5], [1.0]]), np.array([[0.0], [0.0], [1.0], [1.0]]))
    array([0.4, 0.3, 0. , 0.4])
    """
    labels = by_label(Y)

    def work(first: int, order: Int, distances: Float) -> Float:
        return _mean_margins(first, order, distances, labels)

    radii: Float = np.maximum(np.concatenate(over_neighbors(X, work)), 0.0)
    return radii


def over_neighbors(X: Float, work: Callable[[int, Int, Float], Any]) -> list[Any]:
    """Results of `work(first, order, distances)` for consecutive parts of the samples, the first of them `first`.

    Row b of `order` holds all other samples than first + b, nearest first, and `distances` their distances.
    """
    columns = np.ascontiguousarray(X.T)

    def part(first: int) -> Any:
        squares = np.round(_squared_distances(columns, first, min(first + PART, len(X))), DECIMALS)
        own = np.arange(len(squares))
        squares[own, first + own] = np.inf
        order = np.argsort(squares, axis=1, kind="stable")[:, :-1]
        return work(first, np.ascontiguousarray(order), np.sqrt(np.take_along_axis(squares, order, axis=1)))

    return list(in_order(part, range(0, len(X), PART)))


def by_label(Y: Float) -> Labels:
    """Labels as the kernels here read them."""
    return np.ascontiguousarray(Y.T.astype(np.uint8))


@compiled
def _squared_distances(columns: Float, first: int, last: int) -> Float:
    """(last - first, n_samples), added in the order of the features."""
    squares = np.zeros((last - first, columns.shape[1]))
    for i in range(first, last):
        sums = squares[i - first]
        for column in columns:
            x = column[i]
            for j in range(len(column)):
                difference = x - column[j]
                sums[j] += difference * difference
    return squares


@compiled
def _mean_margins(first: int, order: Int, distances: Float, labels: Labels) -> Float:
    margins = np.zeros(len(order))
    for b in range(len(order)):
        total, count = 0.0, 0
        for label in labels:
            own = label[first + b]
            hit = miss = -1.0
            for t in range(order.shape[1]):
                if label[order[b, t]] == own:
                    if hit < 0:
                        hit = distances[b, t]
                elif miss < 0:
                    miss = distances[b, t]
                if hit >= 0 and miss >= 0:
                    total += miss - hit
                    count += 1
                    break
        if count > 0:
            margins[b] = total / count
    return margins

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
from fedsieve.kernels.threads import parallel_map
from fedsieve.ordering import ranked, rounded

DECIMALS = 10  # of a squared distance
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
        squares = rounded(_squared_distances(columns, first, min(first + PART, len(X))), DECIMALS)
        own = np.arange(len(squares))
        squares[own, first + own] = np.inf
        order = ranked(-squares, decimals=DECIMALS)[:, :-1]
        return work(first, np.ascontiguousarray(order), np.sqrt(np.take_along_axis(squares, order, axis=1)))

    return list(parallel_map(part, range(0, len(X), PART)))


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


@compiled
def relief_sums(first: int, order: Int, alike: Float, labels: Labels, rows: Float, k: int) -> Float:
    """Σ over samples and labels of the weighted mean distance to k misses, less that to k hits, in each feature.

    `alike` weighs hits, one minus it misses; a label counts for a sample that has both.
    """
    sums = np.zeros(rows.shape[1])
    k = min(k, order.shape[1])
    hits, misses = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    factors = np.zeros(len(rows))
    for b in range(len(order)):
        factors[:] = 0.0
        for label in labels:
            own = label[first + b]
            n_hits = n_misses = 0
            hit_sum = miss_sum = 0.0
            for j in order[b]:
                if label[j] == own:
                    if n_hits < k:
                        hits[n_hits] = j
                        n_hits += 1
                        hit_sum += alike[b, j]
                elif n_misses < k:
                    misses[n_misses] = j
                    n_misses += 1
                    miss_sum += 1.0 - alike[b, j]
                if n_hits == k and n_misses == k:
                    break
            if hit_sum > 0.0 and miss_sum > 0.0:
                for j in hits[:n_hits]:
                    factors[j] -= alike[b, j] / hit_sum
                for j in misses[:n_misses]:
                    factors[j] += (1.0 - alike[b, j]) / miss_sum
        x = rows[first + b]
        for j in range(len(rows)):
            if factors[j] != 0.0:
                y, factor = rows[j], factors[j]
                for f in range(len(x)):
                    sums[f] += factor * abs(x[f] - y[f])
    return sums

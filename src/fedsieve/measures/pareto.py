"""Points that are best in two respects at once: fronts that no point outside dominates, and how crowded they are."""

from bisect import bisect_right

import numpy as np

from fedsieve.arrays import Float, Int


def pareto_fronts(first: Float, second: Float) -> Int:
    """The front of each point, from 1, where more of both is better.

    A point dominates another if it has as much of both and more of one. Front 1 is dominated by nobody, front 2 only by
    points of front 1, and so on.

    >>> pareto_fronts(np.array([3.0, 1.0, 2.0, 1.0]), np.array([1.0, 3.0, 0.5, 2.0]))
    array([1, 1, 2, 2])
    """
    points, place = np.unique(np.column_stack([first, second]), axis=0, return_inverse=True)
    fronts = np.empty(len(points), dtype=np.int64)
    # From the largest first value down, each point has met all that could dominate it. The largest second value falls
    # from front to front, so that the point's front, the first whose largest is below its own, is found by halving.
    minus_largest: list[float] = []
    for point in range(len(points) - 1, -1, -1):
        value = -float(points[point, 1])
        front = bisect_right(minus_largest, value)
        minus_largest[front : front + 1] = [value]
        fronts[point] = front + 1
    return fronts[place.ravel()]


def crowding(first: Float, second: Float, fronts: Int) -> Float:
    """How far a point's neighbors in its front are apart, in shares of the front's width, over both values.

    The ends of a front are infinitely far from a crowd. Equal values are taken in the order of their index.

    >>> crowding(np.array([1.0, 2.0, 4.0]), np.array([9.0, 5.0, 1.0]), np.array([1, 1, 1]))
    array([inf,  2., inf])
    """
    room = np.zeros(len(first))
    for front in np.unique(fronts):
        members = np.flatnonzero(fronts == front)
        for values in (first[members], second[members]):
            order = np.argsort(values, kind="stable")
            width = values[order[-1]] - values[order[0]]
            if width > 0:
                room[members[order[1:-1]]] += (values[order[2:]] - values[order[:-2]]) / width
            room[members[order[[0, -1]]]] = np.inf
    return room

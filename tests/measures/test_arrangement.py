"""Orders and points from distances: the same each time, near where the distances are small."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.measures.arrangement import clustered, distances, laid_out


def of_points(points):
    return distances(np.asarray(points, dtype=float))


@given(st.integers(1, 12), st.integers(0, 1000))
def test_an_order_has_each_thing_once_and_points_are_in_the_square(n, seed):
    distance = of_points(np.random.default_rng(seed).random((n, 3)))
    assert sorted(clustered(distance)) == list(range(n))
    points = laid_out(distance)
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()
    assert points.min() >= -1e-12
    assert points.max() <= 1 + 1e-12
    np.testing.assert_array_equal(points, laid_out(distance))


def test_points_of_a_plane_are_found_again():
    wanted = of_points([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.2]])
    found = distances(laid_out(wanted))
    np.testing.assert_allclose(found * wanted[0, 3] / found[0, 3], wanted, atol=1e-3)


def test_two_groups_stay_together():
    distance = of_points([[0, 0], [9, 9], [0.1, 0], [9, 9.1], [0, 0.1], [9.1, 9]])
    order = clustered(distance).tolist()
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}
    found = distances(laid_out(distance))
    assert found[0, [2, 4]].max() < found[0, [1, 3, 5]].min()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_things_in_one_place_are_still_told_apart(n):
    points = laid_out(np.zeros((n, n)))
    assert np.isfinite(points).all()
    assert len({tuple(point) for point in points}) == n

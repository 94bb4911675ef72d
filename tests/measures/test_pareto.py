"""Pareto fronts and crowding, against the definitions by brute force, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.measures.pareto import crowding, pareto_fronts

# Few values, so that points coincide and tie in one respect, or many.
values = st.integers(0, 4).map(float) | st.floats(-1e6, 1e6)
points = st.lists(st.tuples(values, values), min_size=1, max_size=25).map(lambda rows: np.array(rows).T)


def dominates(a, b):
    return bool(np.all(a >= b) and np.any(a > b))


def peeled(first, second):
    """Front after front of the points that nobody left dominates."""
    rows = np.column_stack([first, second])
    fronts, left, front = np.zeros(len(rows), dtype=int), set(range(len(rows))), 1
    while left:
        free = {p for p in left if not any(dominates(rows[q], rows[p]) for q in left)}
        fronts[list(free)] = front
        left, front = left - free, front + 1
    return fronts


def crowded(first, second, fronts):
    """One point at a time: who is next on either side, by (value, index)."""
    room = np.zeros(len(first))
    for p in range(len(first)):
        for line in (first, second):
            order = sorted((q for q in range(len(first)) if fronts[q] == fronts[p]), key=lambda q: (line[q], q))
            place, width = order.index(p), line[order[-1]] - line[order[0]]
            if place in (0, len(order) - 1):
                room[p] = np.inf
            elif width > 0:
                room[p] += (line[order[place + 1]] - line[order[place - 1]]) / width
    return room


@given(points)
def test_fronts_are_those_of_peeling(case):
    assert_array_equal(pareto_fronts(*case), peeled(*case))


@given(points)
def test_crowding_is_that_of_looking_at_both_sides(case):
    fronts = pareto_fronts(*case)
    assert_allclose(crowding(*case, fronts), crowded(*case, fronts), atol=1e-9)


@given(points)
def test_no_point_dominates_another_of_its_front_and_each_is_dominated_from_the_front_before(case):
    rows, fronts = case.T, pareto_fronts(*case)
    for p, front in enumerate(fronts):
        assert not any(dominates(rows[q], rows[p]) for q in np.flatnonzero(fronts == front))
        assert front == 1 or any(dominates(rows[q], rows[p]) for q in np.flatnonzero(fronts == front - 1))


@given(points, st.randoms(use_true_random=False))
def test_fronts_depend_neither_on_the_order_of_points_nor_on_which_value_comes_first(case, random):
    fronts = pareto_fronts(*case)
    moved = list(range(case.shape[1]))
    random.shuffle(moved)
    assert_array_equal(pareto_fronts(*case[:, moved]), fronts[moved])
    assert_array_equal(pareto_fronts(*case[::-1]), fronts)


@given(points)
def test_fronts_depend_on_the_order_of_values_only(case):
    ranks = [np.unique(line, return_inverse=True)[1].astype(float) for line in case]
    assert_array_equal(pareto_fronts(*ranks), pareto_fronts(*case))


@given(points, st.sampled_from([2.0, 1024.0]))
def test_crowding_is_in_shares_of_the_front_whatever_the_unit(case, unit):
    fronts = pareto_fronts(*case)
    assert_array_equal(crowding(case[0] * unit, case[1], fronts), crowding(*case, fronts))


@given(points)
def test_both_ends_of_a_front_have_all_the_room_and_nobody_more_than_twice_the_width(case):
    fronts = pareto_fronts(*case)
    room = crowding(*case, fronts)
    for front in np.unique(fronts):
        own = room[fronts == front]
        assert np.isinf(own).sum() >= min(2, len(own))
        assert np.all((own[np.isfinite(own)] >= 0) & (own[np.isfinite(own)] <= 2 + 1e-9))


def test_equal_points_share_a_front():
    assert_array_equal(pareto_fronts(np.ones(5), np.ones(5)), 1)


def test_a_chain_has_as_many_fronts_as_points_and_its_mirror_image_one():
    line = np.arange(50.0)
    assert_array_equal(pareto_fronts(line, line), 50 - line)
    assert_array_equal(pareto_fronts(line, -line), 1)


def test_points_of_equal_values_have_no_room_but_at_the_ends():
    assert_array_equal(crowding(np.ones(4), np.ones(4), np.ones(4, dtype=int)), [np.inf, 0, 0, np.inf])


@pytest.mark.parametrize("n_points", [1, 2])
def test_one_point_or_two_are_ends(n_points):
    assert np.isinf(crowding(np.arange(n_points), np.zeros(n_points), np.ones(n_points, dtype=int))).all()

"""The rule for order and ties: rounding, ranking, the best of some, chains of ties."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.ordering import best_of, places, ranked, rounded, tie_levels
from reference.rivals import rounding

# On a grid of 1/8 no score lies near an edge of rounding, and many are equal.
grid = st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=12).map(np.array)
scales = st.sampled_from([1.0, 2.0**-60, 2.0**70])


def noise(values, seed, size):
    return values + np.random.default_rng(seed).uniform(-size, size, len(values))


def test_decimals_are_absolute_when_given_and_relative_to_the_largest_otherwise():
    assert_array_equal(rounded([1.0 + 4e-13, 1.0 + 6e-13], 12), [1.0, 1.0 + 1e-12])
    assert_array_equal(rounded([250.0, -1.0, 4e-9, 6e-9]), [2.5, -0.01, 0.0, 1e-10])
    assert_array_equal(rounded([]), [])
    assert_array_equal(rounded([0.0, np.inf, 0.25]), [0.0, np.inf, 0.25])
    assert_array_equal(rounded([5e-324, 0.0]), [1.0, 0.0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12), st.data())
def test_it_equals_its_loop_twin(scores, data):
    second = data.draw(st.lists(st.integers(0, 2), min_size=len(scores), max_size=len(scores)))
    candidates = data.draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    mask = np.isin(np.arange(len(scores)), list(candidates))
    assert ranked(scores, second).tolist() == rounding.descending(scores, second)
    assert best_of(mask, np.array(scores), np.array(second)) == rounding.best(candidates, scores, second)


@given(grid)
def test_scores_fall_and_ties_go_by_index(scores):
    order = ranked(scores)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(len(scores)))
    for before, after in pairwise(order):
        assert (-scores[before], before) < (-scores[after], after)


@given(grid, scales, st.integers(0, 99))
def test_noise_below_the_tolerance_changes_nothing(scores, scale, seed):
    largest = float(np.abs(scores).max())
    assert_array_equal(ranked(noise(scores, seed, 1e-13 * largest) * scale), ranked(scores))
    assert_array_equal(ranked(noise(scores, seed, 1e-14), decimals=12), ranked(scores, decimals=12))
    whole = np.ones(len(scores), dtype=bool)
    assert best_of(whole, noise(scores, seed, 1e-13 * largest)) == ranked(scores)[0]


@given(grid, st.randoms(use_true_random=False))
def test_permuted_scores_give_the_permuted_order_but_for_ties(scores, random):
    shuffled = np.array(random.sample(range(len(scores)), len(scores)))
    assert_array_equal(scores[shuffled[ranked(scores[shuffled])]], scores[ranked(scores)])
    distinct = scores + np.arange(len(scores)) / 1000
    assert_array_equal(shuffled[ranked(distinct[shuffled])], ranked(distinct))


@given(grid, st.data())
def test_what_is_marked_comes_last_and_both_parts_keep_the_rule(scores, data):
    last = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))))
    expected = [f for part in (False, True) for f in ranked(scores) if last[f] == part]
    assert ranked(scores, last=last).tolist() == expected


def test_tolerance_of_absolute_decimals():
    assert ranked([1.0, 1.0 + 1e-11], decimals=10).tolist() == [0, 1]
    assert ranked([1.0, 1.0 + 1e-11], decimals=12).tolist() == [1, 0]


def test_tables_are_ranked_row_by_row():
    table = np.array([[0.1, 0.3, 0.3 + 1e-14], [0.9, 0.2, 0.5]])
    assert_array_equal(ranked(table, decimals=12), [ranked(row, decimals=12) for row in table])
    assert_array_equal(ranked(table, decimals=12), [[1, 2, 0], [0, 2, 1]])


def test_a_later_score_decides_ties_only():
    assert ranked([1, 2, 1], [0.0, 0.0, 5.0]).tolist() == [1, 2, 0]
    assert best_of(np.array([True, False, True]), np.array([1.0, 9.0, 1.0]), np.array([0.0, 9.0, 5.0])) == 2


@given(grid, scales)
def test_levels_without_close_scores_rank_like_the_scores(scores, scale):
    levels = tie_levels(scores * scale, 1e-9)
    assert_array_equal(ranked(levels, decimals=0), ranked(scores))
    for other, level in zip(scores, levels, strict=True):
        tied = scores.any()  # of scores that are all 0 each has a level of its own
        assert not tied or np.all((scores == other) == (levels == level))


def test_levels_form_chains():
    chain = 0.5 + np.array([0.0, 0.6e-9, 1.2e-9, 1.8e-9])
    assert tie_levels([*chain, 1.0], 1e-9).tolist() == [0, 0, 0, 0, 1]
    assert tie_levels([chain[0], chain[3], 1.0], 1e-9).tolist() == [0, 1, 2]
    assert tie_levels([], 1e-9).tolist() == []


@given(st.permutations(range(6)))
def test_places_invert_an_order(order):
    assert [int(places(np.array(order))[index]) for index in order] == list(range(6))


@pytest.mark.parametrize("values", [np.array([0.3, 0.1, 0.2]), np.array([[0.3, 0.1]])])
def test_what_is_given_is_left_alone(values):
    before = values.copy()
    rounded(values, 1), ranked(values)
    assert_array_equal(values, before)

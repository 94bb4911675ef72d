"""From scores to an order: the tie rule, the features put last, and the default number of features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve import fuzzy
from reference import fuzzy_loops

# Scores on a coarse grid plus steps around the tie distance: equal, tied, chained and apart, all in one vector.
scores = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6)).map(lambda p: p[0] / 4 + p[1] * 4e-10), min_size=1, max_size=14
)


@given(scores, st.data())
def test_order_equals_its_loop_twin(values, data):
    last = data.draw(st.sets(st.integers(0, len(values) - 1)))
    values = np.where(np.isin(np.arange(len(values)), list(last)), 0.0, values)  # no vertices of the graph: score 0
    mask = np.isin(np.arange(len(values)), list(last))
    assert fuzzy.order_by_score(values, mask).tolist() == fuzzy_loops.order(values, last)


@given(scores)
def test_order_is_a_permutation_of_whole_numbers(values):
    order = fuzzy.order_by_score(values)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(len(values)))


def test_distinct_scores_are_sorted_best_first(rng):
    values = rng.permutation(50) / 50
    order = fuzzy.order_by_score(values)
    assert np.all(np.diff(values[order]) < 0)


def test_scores_tie_when_closer_than_a_billionth_of_the_largest():
    assert_array_equal(fuzzy.order_by_score([500.0, 500.0 + 0.9e-6, 1000.0]), [2, 0, 1])
    assert_array_equal(fuzzy.order_by_score([500.0, 500.0 + 1.1e-6, 1000.0]), [2, 1, 0])
    assert_array_equal(fuzzy.order_by_score([0.5, 0.5 + 0.9e-9, 1.0]), [2, 0, 1])
    assert_array_equal(fuzzy.order_by_score([0.5, 0.5 + 1.1e-9, 1.0]), [2, 1, 0])


def test_a_gap_of_exactly_the_tie_distance_separates():
    assert_array_equal(fuzzy.order_by_score([0.0, 1e-9, 1.0]), [2, 1, 0])


def test_ties_form_chains():
    # Neighbors tie, so all four do, although the ends are 1.8e-9 apart.
    chain = 0.5 + np.array([0.0, 0.6e-9, 1.2e-9, 1.8e-9])
    assert_array_equal(fuzzy.order_by_score([*chain, 1.0]), [4, 0, 1, 2, 3])
    # Without the middle the chain breaks.
    assert_array_equal(fuzzy.order_by_score([chain[0], chain[3], 1.0]), [2, 1, 0])


def test_all_zero_scores_keep_index_order():
    assert_array_equal(fuzzy.order_by_score(np.zeros(5)), np.arange(5))


def test_marked_features_come_last_in_index_order_whatever_their_score():
    last = np.array([True, False, True, False])
    assert_array_equal(fuzzy.order_by_score([0.3, 0.1, 0.9, 0.2], last), [3, 1, 0, 2])
    assert_array_equal(fuzzy.order_by_score([0.3, 0.1], np.array([True, True])), [0, 1])


def test_marked_features_do_not_set_the_scale_of_ties():
    # A billionth of the third is 1: more than the gap between the others.
    assert_array_equal(fuzzy.order_by_score([0.5, 0.6, 1e9], np.array([False, False, True])), [1, 0, 2])


def test_a_common_factor_does_not_change_the_order(rng):
    values = rng.integers(0, 5, 30) / 4 + rng.integers(0, 3, 30) * 1e-12
    for factor in (2.0**-40, 2.0**40):
        assert_array_equal(fuzzy.order_by_score(values * factor), fuzzy.order_by_score(values))


def test_the_scores_given_are_left_alone():
    values = np.array([0.1, 0.3, 0.2])
    fuzzy.order_by_score(values, np.array([False, True, False]))
    assert_array_equal(values, [0.1, 0.3, 0.2])


@pytest.mark.parametrize(
    ("n_features", "kept"),
    [(1, 1), (2, 1), (5, 2), (99, 40), (100, 30), (499, 150), (500, 100), (999, 200), (1000, 100), (20_000, 2000)],
)
def test_the_default_share_falls_as_the_table_widens(n_features, kept):
    assert fuzzy.default_n_features(n_features) == kept

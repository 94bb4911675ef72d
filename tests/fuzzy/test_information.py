"""Entropies of relations: Equations 4 to 7 against their loop twins, and the laws that tie them together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import fuzzy
from fedsieve.errors import DataError
from reference import fuzzy_loops
from strategies import KINDS, columns, with_gaps

ROUNDING = 1e-13
PAIR_FUNCTIONS = ("joint_entropy", "conditional_entropy", "mutual_information")


@st.composite
def relation_pairs(draw):
    """Relations of two features on the same rows, nominal or not, with or without gaps."""
    n_rows = draw(st.integers(2, 20))

    def one():
        x = with_gaps(draw(columns(n_rows)), draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2])))
        radius = draw(st.integers(0, 20)) / 16
        return fuzzy_loops.relation(x, radius, draw(st.sampled_from(KINDS)), draw(st.booleans()))

    return one(), one()


@given(relation_pairs())
def test_entropies_equal_their_loop_twins(pair):
    R, T = pair
    assert_allclose(fuzzy.entropy(R), fuzzy_loops.entropy(R), atol=ROUNDING)
    for name in PAIR_FUNCTIONS:
        assert_allclose(getattr(fuzzy, name)(R, T), getattr(fuzzy_loops, name)(R, T), atol=ROUNDING, err_msg=name)


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_entropies_of_asymmetric_relations_equal_their_loop_twins(n_rows, seed):
    # The equations ask for classes, rows of R; they do not need a symmetric or a reflexive relation.
    R, T = np.random.default_rng(seed).random((2, n_rows, n_rows))
    assert_allclose(fuzzy.entropy(R), fuzzy_loops.entropy(R), atol=ROUNDING)
    for name in PAIR_FUNCTIONS:
        assert_allclose(getattr(fuzzy, name)(R, T), getattr(fuzzy_loops, name)(R, T), atol=ROUNDING, err_msg=name)


@given(relation_pairs())
def test_mutual_information_is_what_the_joint_entropy_lacks(pair):
    R, T = pair
    expected = fuzzy.entropy(R) + fuzzy.entropy(T) - fuzzy.joint_entropy(R, T)
    assert_allclose(fuzzy.mutual_information(R, T), expected, atol=ROUNDING)


@given(relation_pairs())
def test_conditional_entropy_is_the_joint_less_the_given_and_never_negative(pair):
    R, T = pair
    given_t = fuzzy.conditional_entropy(R, T)
    assert_allclose(given_t, fuzzy.joint_entropy(R, T) - fuzzy.entropy(T), atol=ROUNDING)
    assert given_t >= -ROUNDING


@given(relation_pairs())
def test_joint_entropy_is_at_least_each_entropy_and_within_bounds(pair):
    R, T = pair
    joint = fuzzy.joint_entropy(R, T)
    assert joint >= max(fuzzy.entropy(R), fuzzy.entropy(T)) - ROUNDING
    assert 0 <= joint <= 1 - 1 / len(R) + ROUNDING  # a row is always related to itself


@given(relation_pairs())
def test_joint_entropy_and_mutual_information_do_not_care_for_order(pair):
    R, T = pair
    assert_allclose(fuzzy.joint_entropy(R, T), fuzzy.joint_entropy(T, R), atol=ROUNDING)
    assert_allclose(fuzzy.mutual_information(R, T), fuzzy.mutual_information(T, R), atol=ROUNDING)


@given(relation_pairs())
def test_a_feature_tells_all_about_itself(pair):
    R, _ = pair
    assert_allclose(fuzzy.joint_entropy(R, R), fuzzy.entropy(R), atol=ROUNDING)
    assert_allclose(fuzzy.mutual_information(R, R), fuzzy.entropy(R), atol=ROUNDING)
    assert_allclose(fuzzy.conditional_entropy(R, R), 0, atol=ROUNDING)


@given(relation_pairs(), st.randoms(use_true_random=False))
def test_entropies_do_not_change_when_the_rows_are_permuted(pair, random):
    R, T = pair
    order = random.sample(range(len(R)), len(R))
    moved = [matrix[np.ix_(order, order)] for matrix in pair]
    assert_allclose(fuzzy.entropy(moved[0]), fuzzy.entropy(R), atol=ROUNDING)
    for name in PAIR_FUNCTIONS:
        function = getattr(fuzzy, name)
        assert_allclose(function(*moved), function(R, T), atol=ROUNDING, err_msg=name)


def test_extreme_relations_have_extreme_entropies():
    everything, nothing = np.ones((4, 4)), np.eye(4)
    assert fuzzy.entropy(everything) == 0
    assert fuzzy.entropy(nothing) == 0.75  # each class is one row of four
    assert fuzzy.conditional_entropy(nothing, everything) == 0.75
    assert fuzzy.conditional_entropy(everything, nothing) == 0
    assert fuzzy.mutual_information(nothing, everything) == 0


@pytest.mark.parametrize("name", PAIR_FUNCTIONS)
def test_relations_on_different_rows_are_refused(name):
    with pytest.raises(DataError, match=rf"fuzzy\.{name}: .*same rows; got 2 and 3 rows"):
        getattr(fuzzy, name)(np.eye(2), np.eye(3))


@pytest.mark.parametrize("name", PAIR_FUNCTIONS)
def test_each_of_two_relations_is_checked(name):
    with pytest.raises(DataError, match=rf"fuzzy\.{name}: .*\[0, 1\]; got 0\.0 to 1\.5"):
        getattr(fuzzy, name)(np.diag([1.5, 1]), np.eye(2))
    with pytest.raises(DataError, match=rf"fuzzy\.{name}: .*square.*got shape \(1, 2\)"):
        getattr(fuzzy, name)(np.eye(2), np.ones((1, 2)))


def test_entropy_refuses_what_is_no_relation():
    with pytest.raises(DataError, match=r"fuzzy\.entropy: .*square matrix of rows; got shape \(3,\)"):
        fuzzy.entropy([1, 0, 1])
    with pytest.raises(DataError, match=r"fuzzy\.entropy: .*entries in \[0, 1\]; got -1\.0 to 1\.0"):
        fuzzy.entropy([[1, -1], [-1, 1]])

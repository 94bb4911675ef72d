"""Lower and upper approximations and the positive region: Equations 1, 2 and 8."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy
from fedsieve.errors import DataError
from reference import fuzzy_loops
from strategies import KINDS, columns, with_gaps


@st.composite
def relations_and_sets(draw, n_sets=1):
    """A feature's relation, and fuzzy sets on its rows as columns."""
    n_rows = draw(st.integers(2, 15))
    x = with_gaps(draw(columns(n_rows)), draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2])))
    R = fuzzy_loops.relation(x, draw(st.integers(0, 20)) / 16, draw(st.sampled_from(KINDS)), draw(st.booleans()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = draw(st.sampled_from([1, 4, 1000]))  # 1 makes crisp sets
    return R, rng.integers(0, steps + 1, (n_rows, n_sets)) / steps


@given(relations_and_sets())
def test_approximations_equal_their_loop_twins(drawn):
    R, sets = drawn
    A = sets[:, 0]
    assert_array_equal(fuzzy.lower_approximation(R, A), fuzzy_loops.lower_approximation(R, A))
    assert_array_equal(fuzzy.upper_approximation(R, A), fuzzy_loops.upper_approximation(R, A))


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_approximations_under_asymmetric_relations_equal_their_loop_twins(n_rows, seed):
    rng = np.random.default_rng(seed)
    R, A = rng.random((n_rows, n_rows)), rng.random(n_rows)
    assert_array_equal(fuzzy.lower_approximation(R, A), fuzzy_loops.lower_approximation(R, A))
    assert_array_equal(fuzzy.upper_approximation(R, A), fuzzy_loops.upper_approximation(R, A))


@given(relations_and_sets())
def test_a_set_lies_between_its_approximations(drawn):
    R, sets = drawn  # the relation is reflexive
    A = sets[:, 0]
    assert np.all(fuzzy.lower_approximation(R, A) <= A)
    assert np.all(fuzzy.upper_approximation(R, A) >= A)


@given(relations_and_sets())
def test_lower_approximation_is_the_complement_of_the_complements_upper_one(drawn):
    R, sets = drawn
    A = sets[:, 0]
    assert_allclose(fuzzy.lower_approximation(R, A), 1 - fuzzy.upper_approximation(R, 1 - A), atol=1e-15)


@given(relations_and_sets(n_sets=2))
def test_approximations_grow_with_the_set(drawn):
    R, sets = drawn
    smaller, larger = sets.min(axis=1), sets.max(axis=1)
    assert np.all(fuzzy.lower_approximation(R, smaller) <= fuzzy.lower_approximation(R, larger))
    assert np.all(fuzzy.upper_approximation(R, smaller) <= fuzzy.upper_approximation(R, larger))


@given(relations_and_sets(n_sets=3))
def test_positive_region_equals_its_loop_twin(drawn):
    assert_array_equal(fuzzy.positive_region(*drawn), fuzzy_loops.positive_region(*drawn))


@given(relations_and_sets(n_sets=3), st.randoms(use_true_random=False))
def test_positive_region_follows_rows_and_ignores_the_order_of_labels(drawn, random):
    R, Y = drawn
    order = random.sample(range(len(R)), len(R))
    moved = fuzzy.positive_region(R[np.ix_(order, order)], Y[order][:, ::-1])
    assert_array_equal(moved, fuzzy.positive_region(R, Y)[order])


def test_identity_relation_keeps_a_set_and_the_full_relation_levels_it():
    A = np.array([0.25, 0.5, 1.0])
    assert_array_equal(fuzzy.lower_approximation(np.eye(3), A), A)
    assert_array_equal(fuzzy.upper_approximation(np.eye(3), A), A)
    assert_array_equal(fuzzy.lower_approximation(np.ones((3, 3)), A), [0.25] * 3)
    assert_array_equal(fuzzy.upper_approximation(np.ones((3, 3)), A), [1.0] * 3)


@pytest.mark.parametrize("name", ["lower_approximation", "upper_approximation"])
@pytest.mark.parametrize("A", [[1.0], [[1.0, 0.0]], [0.5, 1.5], [-0.1, 1.0], [np.nan, 1.0]])
def test_what_is_no_fuzzy_set_on_the_rows_is_refused(name, A):
    got = f"{np.min(A)} to {np.max(A)}" if np.shape(A) == (2,) else f"shape {np.shape(A)}"
    message = rf"fuzzy\.{name}: A must be a fuzzy set on the 2 rows, entries in \[0, 1\]; got {re.escape(got)}"
    with pytest.raises(DataError, match=message):
        getattr(fuzzy, name)(np.eye(2), A)


@pytest.mark.parametrize("name", ["lower_approximation", "upper_approximation"])
def test_what_is_no_relation_is_refused(name):
    with pytest.raises(DataError, match=rf"fuzzy\.{name}: .*square matrix of rows; got shape \(2, 1\)"):
        getattr(fuzzy, name)(np.ones((2, 1)), [1, 0])
    with pytest.raises(DataError, match=rf"fuzzy\.{name}: .*entries in \[0, 1\]; got 0\.0 to 2\.0"):
        getattr(fuzzy, name)(np.diag([2, 1]), [1, 0])


@pytest.mark.parametrize("Y", [[1, 0], np.ones((2, 0)), np.ones((2, 1, 1))])
def test_positive_region_needs_a_table_of_labels(Y):
    with pytest.raises(DataError, match=r"fuzzy\.positive_region: Y must be \(n_samples, n_labels\); got shape"):
        fuzzy.positive_region(np.eye(2), Y)

"""Ranges, moments and scaling of one site's rows, and that summaries of parts add up to the summary of the whole."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve.errors import ProtocolError
from fedsieve.kernels import distance_product, pair_sums
from fedsieve.protocol import summaries
from fedsieve.protocol.messages import Moments, PairSums, Products, Ranges
from fedsieve.protocol.summaries import is_unscaled_binary, scaled
from strategies import tables, with_gaps


def ranges_of(X):
    return summaries.ranges_of(X, tuple(f"f{p}" for p in range(X.shape[1])))


def moments_of(X):
    return summaries.moments_of(X, tuple(f"f{p}" for p in range(X.shape[1])))


@st.composite
def dealt_out(draw, n_parts=4):
    """A table with gaps and a split of its rows in which a part may be empty."""
    X = with_gaps(draw(tables(min_rows=3)), draw(st.integers(0, 99)), draw(st.sampled_from([0.0, 0.3])))
    owner = np.array(draw(st.lists(st.integers(0, n_parts - 1), min_size=len(X), max_size=len(X))))
    order = draw(st.permutations(range(n_parts)))
    return X, [X[owner == part] for part in order]


@given(dealt_out())
def test_ranges_of_parts_are_the_ranges_of_the_whole(case):
    X, parts = case
    total, whole = reduce(add, [ranges_of(part) for part in parts]), ranges_of(X)
    assert total.n_rows == len(X)
    assert_array_equal(total.low, whole.low)
    assert_array_equal(total.high, whole.high)


@given(dealt_out())
def test_moments_of_parts_are_numpy_s_on_the_pooled_rows(case):
    X, parts = case
    total = reduce(add, [moments_of(part) for part in parts])
    present = ~np.isnan(X)
    assert_array_equal(total.count, present.sum(axis=0))
    for p in range(X.shape[1]):
        values = X[present[:, p], p]
        if len(values):
            assert_allclose(total.mean[p], values.mean(), rtol=1e-12, atol=1e-15)
            assert_allclose(total.m2[p], values.var() * len(values), rtol=1e-10, atol=1e-14)


@given(dealt_out(n_parts=3))
def test_moments_add_up_in_any_grouping_and_order(case):
    _, parts = case
    a, b, c = (moments_of(part) for part in parts)
    for left, right in (((a + b) + c, a + (b + c)), (a + b, b + a)):
        assert_array_equal(left.count, right.count)
        assert_allclose(left.mean, right.mean, rtol=1e-12, atol=1e-15)
        assert_allclose(left.m2, right.m2, rtol=1e-10, atol=1e-14)


def test_an_empty_client_changes_nothing():
    X = np.array([[0.25, 1.0], [0.75, 0.5]])
    for summary in (ranges_of, moments_of):
        whole, with_empty = summary(X), summary(X[:0]) + summary(X)
        for name, value in vars(whole).items():
            assert_array_equal(getattr(with_empty, name), value)


def test_a_constant_column_has_no_spread_at_all_however_it_is_split():
    # 0.1 cannot be summed exactly, so a mean-based deviation would leave 1e-33 here, and the column in the graph.
    X = np.full((30, 1), 0.1)
    assert reduce(add, [moments_of(X[:7]), moments_of(X[7:9]), moments_of(X[9:])]).m2[0] == 0


@given(st.lists(tables(max_features=1), min_size=2, max_size=3))
def test_pair_sums_and_products_add_up(parts):
    names = ("x", "square", "mirror")
    sums = [PairSums.of(len(X), names, pair_sums(np.hstack([X, X**2, 1 - X]), 0.2)) for X in parts]
    v = np.array([1.0, 2.0, 0.5])
    products = [Products(s.n_rows, distance_product(s.matrix(), v)) for s in sums]
    forward, backward = reduce(add, sums), reduce(add, sums[::-1])
    assert_array_equal(forward.upper, backward.upper)  # sums are exact, so the order does not matter to the bit
    total = reduce(add, products)
    assert total.n_rows == forward.n_rows
    assert_allclose(total.values, distance_product(forward.matrix(), v), rtol=1e-12)


def test_pair_sums_travel_as_the_upper_triangle():
    matrix = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
    message = PairSums.of(7, ("a", "b", "c"), matrix)
    assert_array_equal(message.upper, [4, 1, 2, 5, 3, 6])
    assert_array_equal(message.matrix(), matrix)


def test_scaling_moves_the_range_to_zero_and_one_and_counts_what_it_clips():
    X = np.array([[0.0, 5.0, 3.0], [10.0, 5.0, np.nan], [25.0, 5.0, 1.0]])
    result, n_clipped = scaled(X, np.array([0, 5, 1.0]), np.array([20, 5, 3.0]), np.array([False, False, False]))
    assert_array_equal(result, [[0, 0, 1], [0.5, 0, np.nan], [1, 0, 0]])
    assert n_clipped == 1


def test_nominal_codes_are_neither_scaled_nor_clipped():
    X = np.array([[3.0], [99.0]])
    result, n_clipped = scaled(X, np.array([0.0]), np.array([10.0]), np.array([True]))
    assert_array_equal(result, X)
    assert n_clipped == 0


@pytest.mark.parametrize("n_columns", [3, 600])
def test_sparse_and_dense_tables_have_equal_ranges(n_columns, rng):
    X = (rng.random((12, n_columns)) < 0.3) * rng.integers(-3, 4, (12, n_columns))
    dense, from_sparse = ranges_of(X.astype(float)), ranges_of(sparse.csr_array(X.astype(float)))
    assert_array_equal(dense.low, from_sparse.low)
    assert_array_equal(dense.high, from_sparse.high)


def test_only_a_sparse_0_1_table_with_unit_ranges_may_stay_sparse():
    X = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    zeros, ones = np.zeros(2), np.ones(2)
    assert is_unscaled_binary(X, zeros, ones)
    assert not is_unscaled_binary(X, zeros, 2 * ones)
    assert not is_unscaled_binary(2 * X, zeros, ones)
    assert not is_unscaled_binary(X.toarray(), zeros, ones)


def test_messages_are_values_that_cannot_be_changed():
    message = Ranges(2, ("a",), np.zeros(1), np.ones(1))
    with pytest.raises(AttributeError):
        message.n_rows = 3  # type: ignore[misc]
    assert isinstance(moments_of(np.ones((2, 1))), Moments)


def test_summaries_of_different_features_do_not_add_up():
    a, b = (PairSums(2, (name,), np.ones(1)) for name in "ab")
    with pytest.raises(ProtocolError, match="different features do not add up"):
        a + b

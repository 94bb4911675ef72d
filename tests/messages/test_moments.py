"""Moments of one site's rows: numpy's, whoever holds which rows, and the rules for columns with little in them."""

from functools import reduce
from operator import add

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.messages import moments
from strategies import dealt_out


def moments_of(X):
    return moments.moments_of(X, 0, tuple(f"f{p}" for p in range(X.shape[1])))


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
    whole, with_empty = moments_of(X), moments_of(X[:0]) + moments_of(X)
    assert isinstance(whole, m.Moments)
    for name, value in vars(whole).items():
        assert_array_equal(getattr(with_empty, name), value)


def test_a_constant_column_has_no_spread_at_all_however_it_is_split():
    # 0.1 cannot be summed exactly, so a mean-based deviation would leave 1e-33 here, and the column in the graph.
    X = np.full((30, 1), 0.1)
    assert reduce(add, [moments_of(X[:7]), moments_of(X[7:9]), moments_of(X[9:])]).m2[0] == 0


def test_moments_do_not_depend_on_the_layout_in_memory():
    X = np.random.default_rng(0).random((1200, 7))
    one, other = (moments_of(order(X)) for order in (np.ascontiguousarray, np.asfortranarray))
    assert_array_equal(one.mean, other.mean)
    assert_array_equal(one.m2, other.m2)


def test_rules_for_columns_without_values_and_for_ranges_of_one_point():
    columns, n = m.Columns(("a", "b"), ("b",), "unrelated"), np.array([0, 1])
    point = m.AskMoments(columns, m.Scaling(np.array([2.0, 0]), np.array([2.0, 1])))
    wide = m.AskMoments(columns, m.Scaling(np.array([2.0, 0]), np.array([3.0, 1])))

    def told(request, mean, m2, count=n):
        reply = m.Moments(5, ("a", "b"), count, np.array(mean), np.array(m2), 0)
        return request.why_refused(reply, m.Known(n_rows=5))

    assert told(wide, [0.0, 7.0], [0.0, 0.0]) is None
    assert "without values" in told(wide, [0.5, 7.0], [0.0, 0.0])
    assert "fewer than two" in told(wide, [0.0, 7.0], [0.0, 0.1])
    assert "codes beyond" in told(wide, [0.0, 1e301], [0.0, 0.0])
    assert told(point, [0.0, 7.0], [0.0, 0.0], np.array([5, 1])) is None
    assert "one point" in told(point, [0.1, 7.0], [0.0, 0.0], np.array([5, 1]))

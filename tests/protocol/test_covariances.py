"""Covariances add up: the sum of sites' messages is the message of all their rows, whoever holds which."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import ProtocolError
from fedsieve.protocol.messages import Covariances
from labeled_sites import dyadic

FEATURES, LABELS = ("a", "b", "c"), ("y", "z")


@st.composite
def parted_tables(draw: st.DrawFn) -> list[np.ndarray]:
    """Rows of three features and two labels in parts of one row or more; a feature or a label may be constant."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    n_rows = sum(sizes)
    X = dyadic(rng.normal(size=(n_rows, 3))) + draw(st.integers(-1000, 1000))
    if draw(st.booleans()):
        X[:, 1] = 0.1
    Y = rng.integers(0, draw(st.integers(1, 2)), (n_rows, 2), endpoint=True) % 2
    return np.split(np.hstack([X, Y]), np.cumsum(sizes)[:-1])


def message(table):
    return Covariances.of(FEATURES, LABELS, table)


def total(parts):
    return reduce(add, map(message, parts))


def assert_same(first, second):
    assert (first.n_rows, first.features, first.labels) == (second.n_rows, second.features, second.labels)
    assert_allclose(first.mean, second.mean, rtol=1e-9, atol=1e-9)
    assert_allclose(first.products(), second.products(), rtol=1e-9, atol=1e-9 * first.n_rows)


@given(parted_tables())
def test_they_are_means_and_sums_of_products_of_deviations(parts):
    table = np.vstack(parts)
    made = message(table)
    assert_allclose(made.mean, table.mean(axis=0), rtol=1e-12)
    assert_allclose(made.products(), np.cov(table, rowvar=False, ddof=0) * len(table), rtol=1e-9, atol=1e-9)


@given(parted_tables())
def test_the_sum_over_any_partition_is_that_of_all_rows(parts):
    assert_same(total(parts), message(np.vstack(parts)))


@given(parted_tables(), st.randoms(use_true_random=False))
def test_the_order_of_additions_does_not_matter(parts, random):
    expected = total(parts)
    random.shuffle(parts)
    cut = random.randint(0, len(parts))
    halves = [total(half) for half in (parts[:cut], parts[cut:]) if half]
    assert_same(reduce(add, halves), expected)


@given(parted_tables(), st.sampled_from([0.1, 1 / 3, -1e6 - 0.1, 7.0]))
def test_what_is_constant_everywhere_has_exactly_no_spread(parts, value):
    """Its mean, added up and divided, may differ from it in the last digit, and by site."""
    for part in parts:
        part[:, 0] = value
    found = total(parts)
    assert found.mean[0] == value
    assert_array_equal(found.products()[0], 0)


def test_what_is_constant_at_each_site_only_varies_between_them():
    parts = [np.full((n, 5), float(value)) for n, value in ((3, 0), (1, 1))]
    assert_array_equal(total(parts).products(), 0.75)


@given(parted_tables())
def test_the_matrix_is_symmetric_and_in_the_order_of_the_columns(parts):
    made = total(parts)
    matrix = made.products()
    assert_array_equal(matrix, matrix.T)
    assert_array_equal(matrix[np.triu_indices(5)], made.upper)


@pytest.mark.parametrize(
    "other", [Covariances.of(("a", "b", "d"), LABELS, np.eye(5)), Covariances.of(FEATURES, ("z", "y"), np.eye(5))]
)
def test_those_of_other_columns_do_not_add_up(other):
    with pytest.raises(ProtocolError, match="summaries of different features do not add up"):
        message(np.eye(5)) + other

"""Ranges of one site's rows, and that ranges of parts add up to those of the whole."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve.tables import ArrayTable
from strategies import dealt_out


def ranges_of(X):
    features = tuple(f"f{p}" for p in range(X.shape[1]))
    return m.AskRanges(m.Columns(features, (), "unrelated")).answer(ArrayTable(features, X))


@given(dealt_out())
def test_ranges_of_parts_are_the_ranges_of_the_whole(case):
    X, parts = case
    total, whole = reduce(add, [ranges_of(part) for part in parts]), ranges_of(X)
    assert total.n_rows == len(X)
    assert_array_equal(total.low, whole.low)
    assert_array_equal(total.high, whole.high)


def test_an_empty_client_changes_nothing():
    X = np.array([[0.25, 1.0], [0.75, 0.5]])
    whole, with_empty = ranges_of(X), ranges_of(X[:0]) + ranges_of(X)
    for name, value in vars(whole).items():
        assert_array_equal(getattr(with_empty, name), value)


@pytest.mark.parametrize("n_columns", [3, 600])
def test_sparse_and_dense_tables_have_equal_ranges(n_columns, rng):
    X = (rng.random((12, n_columns)) < 0.3) * rng.integers(-3, 4, (12, n_columns))
    dense, from_sparse = ranges_of(X.astype(float)), ranges_of(sparse.csr_array(X.astype(float)))
    assert_array_equal(dense.low, from_sparse.low)
    assert_array_equal(dense.high, from_sparse.high)
    assert_array_equal(dense.low, X.min(axis=0))
    assert_array_equal(dense.high, X.max(axis=0))


def test_messages_are_values_that_cannot_be_changed():
    message = m.Ranges(2, ("a",), np.zeros(1), np.ones(1))
    with pytest.raises(AttributeError):
        message.n_rows = 3  # type: ignore[misc]

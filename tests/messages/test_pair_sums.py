"""Pair sums, and the products that stand for them: how they travel and add up."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import ProtocolError
from fedsieve.kernels import distance_product, pair_sums
from fedsieve.messages.pair_sums import PairSums
from fedsieve.messages.products import Products
from strategies import tables


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


def test_sums_of_different_features_do_not_add_up():
    a, b = (PairSums(2, (name,), np.ones(1)) for name in "ab")
    with pytest.raises(ProtocolError, match="different columns do not add up"):
        a + b

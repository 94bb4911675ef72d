"""The distance times a vector from the rows alone: equal to the product of the pair sums, without them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import kernels
from fedsieve.errors import DataError
from fedsieve.kernels import row_pair_products
from kernels.twins import exact_pair_sums, mixed_table

NEAR = 1.0 / row_pair_products.BUCKETS  # what one row pair can be wrong by at most, in all entries of the vector


def from_pair_sums(X, radius, vector, kind="distance", nominal=None):
    """The slow twin: all pair sums in whole numbers, and their product."""
    return kernels.distance_product(exact_pair_sums(X, radius, kind, nominal), vector)


@st.composite
def questions(draw):
    """A table of all kinds of columns with gaps, radii, a vector, a kind of relation, nominal columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(2, 12)), draw(st.integers(1, 12))
    X = mixed_table(rng, n_rows, n_features, share_missing=draw(st.sampled_from([0.0, 0.2])))
    radius, vector = rng.random(n_features) * draw(st.sampled_from([0.2, 1.0])), rng.random(n_features)
    kind, nominal = draw(st.sampled_from(["distance", "similarity"])), rng.random(n_features) < 0.2
    return X, radius, vector, kind, nominal


@given(questions())
def test_it_equals_the_product_of_the_pair_sums(question):
    X, radius, vector, kind, nominal = question
    expected = from_pair_sums(*question)
    sorted_ = kernels.product_from_rows(X, radius, vector, kind, nominal=nominal, exact=True)
    assert_allclose(sorted_, expected, rtol=1e-12, atol=1e-9)
    bucketed = kernels.product_from_rows(X, radius, vector, kind, nominal=nominal)
    assert np.all(bucketed <= expected + 1e-9)  # what lies in one bucket counts as equal
    assert_allclose(bucketed, expected, rtol=0, atol=1e-9 + NEAR * len(X) ** 2 * vector.sum())


@given(questions(), st.integers(0, 2**32 - 1))
def test_one_symmetric_matrix_is_multiplied(question, seed):
    X, radius, one, kind, nominal = question
    other = np.random.default_rng(seed).random(len(one))
    products = [kernels.product_from_rows(X, radius, v, kind, nominal=nominal) for v in (one, other)]
    assert other @ products[0] == pytest.approx(one @ products[1], rel=1e-12, abs=1e-12)


def test_many_features_are_right_to_eight_digits(rng):
    X, vector = rng.normal(0.5, 0.15, (40, 1500)).clip(0, 1), rng.random(1500)
    expected = kernels.distance_product(kernels.pair_sums(X, 0.125), vector)
    error = np.abs(kernels.product_from_rows(X, 0.125, vector) - expected).max() / expected.max()
    assert 0 < error < 1e-7


def test_copies_and_mirror_images_of_a_feature_get_the_same_number(rng):
    X = rng.integers(0, 65, (30, 8)) / 64  # differences are exact
    both = np.hstack([X, X[:, ::-1], 1 - X])
    product = kernels.product_from_rows(both, 0.3, rng.random(24))
    assert_array_equal(product[8:16], product[:8][::-1])
    assert_array_equal(product[16:], product[:8])


@pytest.mark.parametrize("exact", [False, True])
def test_threads_and_layout_do_not_change_a_bit(rng, exact):
    X, vector = mixed_table(rng, 90, 20), rng.random(20)
    alone = kernels.product_from_rows(X, 0.3, vector, exact=exact, n_threads=1)
    assert len(row_pair_products.row_pair_tasks(90)) > 2
    assert_array_equal(kernels.product_from_rows(X, 0.3, vector, exact=exact, n_threads=3), alone)
    assert_array_equal(kernels.product_from_rows(np.asfortranarray(X), 0.3, vector, exact=exact), alone)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(1, 20), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_a_sparse_table_of_ones_is_compared_where_it_has_entries(seed, n_rows, n_features, density):
    rng = np.random.default_rng(seed)
    X, vector = (rng.random((n_rows, n_features)) < density).astype(float), rng.random(n_features)
    product = kernels.product_from_rows(sparse.csr_array(X), 0.3, vector)
    assert_allclose(product, from_pair_sums(X, 0.3, vector), rtol=1e-12, atol=1e-9)


def test_a_sparse_table_of_other_numbers_or_in_parts_is_right_too(rng):
    X = rng.random((12, 5)) * (rng.random((12, 5)) < 0.4)
    vector = rng.random(5)
    assert_array_equal(
        kernels.product_from_rows(sparse.csr_array(X), 0.3, vector), kernels.product_from_rows(X, 0.3, vector)
    )
    parts = sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))  # one cell is 1 + 1
    assert not parts.has_canonical_format
    dense = kernels.product_from_rows(parts.toarray(), 0.3, np.ones(2))
    assert_array_equal(kernels.product_from_rows(parts, 0.3, np.ones(2)), dense)


def test_a_vector_of_another_length_or_below_zero_is_refused(rng):
    X = rng.random((4, 3))
    for vector in (np.ones(2), np.array([1.0, -1.0, 1.0]), np.array([1.0, np.nan, 1.0])):
        with pytest.raises(DataError, match="needs 3 weights of at least 0"):
            kernels.product_from_rows(X, 0.3, vector)
    with pytest.raises(DataError, match="infinite"):
        kernels.product_from_rows(np.array([[np.inf], [0.0]]), 0.3, np.ones(1))

"""The distance times a vector, in one fixed order of additions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy, kernels
from fedsieve.kernels import sums as sums_file
from kernels.twins import mixed_table
from strategies import tables


def left_to_right(sums, vector):
    """y_p = Σ_b (S_p + S_b - 2 S_pb) v_b by Python's own numbers, b from the first to the last."""
    sums, vector = sums.tolist(), vector.tolist()
    result = []
    for p, row in enumerate(sums):
        y = 0.0
        for b, v in enumerate(vector):
            y += (row[p] + sums[b][b] - 2.0 * row[b]) * v
        result.append(y)
    return result


def wide_sums(rng, n_features):
    """A symmetric matrix as wide as needed, with digits down to the last bit."""
    sums = rng.random((n_features, n_features))
    return (sums + sums.T) / 3 + np.diag(rng.random(n_features))


@given(tables(max_rows=15), st.integers(0, 2**32 - 1))
def test_product_is_the_distance_times_the_vector_and_n_squared(X, seed):
    vector = np.random.default_rng(seed).uniform(-1, 1, X.shape[1])
    sums = kernels.pair_sums(X, 0.3)
    expected = fuzzy.correlation_distance(sums, len(X)) @ vector * len(X) ** 2
    assert_allclose(kernels.distance_product(sums, vector), expected, atol=1e-9)


@pytest.mark.parametrize("n_features", [1, 2, 3, 17, 511, 512, 513])
def test_additions_are_made_from_left_to_right(rng, n_features):
    sums, vector = wide_sums(rng, n_features), rng.standard_normal(n_features)
    expected = left_to_right(sums, vector)
    assert_array_equal(kernels.distance_product(sums, vector), expected)
    if n_features > 100:  # another order gives other bits, so the equality above says something
        own = np.diagonal(sums)
        assert not np.array_equal((own[:, None] + own - 2 * sums) @ vector, expected)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_products_are_the_same_on_any_number_of_threads(rng, n_threads):
    sums, vector = wide_sums(rng, 1300), rng.standard_normal(1300)  # three blocks, the last one short
    alone = kernels.distance_product(sums, vector, n_threads=1)
    assert_array_equal(kernels.distance_product(sums, vector, n_threads=n_threads), alone)


@pytest.mark.parametrize("block", [1, 7, 10, 11, 64])
def test_the_size_of_a_block_does_not_change_a_bit(rng, monkeypatch, block):
    sums, vector = wide_sums(rng, 21), rng.standard_normal(21)
    expected = left_to_right(sums, vector)
    monkeypatch.setattr(sums_file, "PRODUCT_BLOCK", block)
    assert_array_equal(kernels.distance_product(sums, vector, n_threads=2), expected)


def test_products_of_clients_add_up_to_the_product_of_their_sums(rng):
    parts = [kernels.pair_sums(mixed_table(rng, n_rows, 7), 0.3) for n_rows in (20, 35, 50)]
    vector = rng.random(7)
    added = sum(kernels.distance_product(part, vector) for part in parts)
    assert_allclose(added, kernels.distance_product(sum(parts), vector), rtol=1e-12)


def test_a_unit_vector_reads_one_column_of_distances(rng):
    sums = kernels.pair_sums(mixed_table(rng, 40, 6), 0.3)
    for b in range(6):
        expected = np.diagonal(sums) + sums[b, b] - 2 * sums[:, b]
        assert_array_equal(kernels.distance_product(sums, np.eye(6)[b]), expected)
        assert expected[b] == 0


def test_layout_and_write_protection_do_not_matter(rng):
    sums, vector = wide_sums(rng, 9), rng.random(9)
    expected = left_to_right(sums, vector)
    before = sums.copy(), vector.copy()
    assert_array_equal(kernels.distance_product(np.asfortranarray(sums), vector), expected)
    assert_array_equal(kernels.distance_product(sums, np.repeat(vector, 2)[::2]), expected)
    sums.flags.writeable = vector.flags.writeable = False
    assert_array_equal(kernels.distance_product(sums, vector), expected)
    assert_array_equal(sums, before[0])
    assert_array_equal(vector, before[1])

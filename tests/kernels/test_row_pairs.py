"""Samples of row pairs: what stands for all pairs is right on average, and the same sums everywhere."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import kernels
from fedsieve.kernels import PairSample, continuous, pair_sample
from fedsieve.kernels.degrees import cuts
from kernels.twins import mixed_table, sampled_pair_sums


@given(st.integers(2, 400), st.integers(1, 20_000), st.binary(max_size=8))
def test_every_row_is_in_as_many_pairs_and_no_pair_is_met_twice(n_rows, max_pairs, seed):
    sample = pair_sample(n_rows, max_pairs, seed)
    if sample is None:
        assert kernels.all_pairs(n_rows) <= max_pairs
        return
    assert sorted(sample.order) == list(range(n_rows))
    assert 1 <= sample.n_next <= (n_rows - 1) // 2
    assert sample.n_pairs == kernels.pairs_looked_at(n_rows, max_pairs) <= max(max_pairs, n_rows)
    assert sample.n_pairs * sample.weight == pytest.approx(kernels.all_pairs(n_rows))


def test_the_same_secret_draws_the_same_sample_and_another_one_another():
    one, again, other = (pair_sample(500, 5000, seed).order for seed in (b"a", b"a", b"b"))
    assert_array_equal(one, again)
    assert np.any(one != other)


@pytest.mark.parametrize("n_next", [1, 2])
def test_on_average_over_all_orders_a_sample_gives_the_sums_of_all_pairs(rng, n_next):
    X, radius, vector = mixed_table(rng, 5, 4), np.full(4, 0.4), np.arange(1.0, 5)
    X[:, 3] = rng.random(5)
    samples = [PairSample(np.array(order), n_next) for order in permutations(range(5))]
    sums = [continuous.sums_from_sample(X, one, radius, False) for one in samples]
    expected = kernels.pair_sums(X, radius)
    mean = 5 + 2 * samples[0].weight * np.mean(sums, axis=0) / (1 << 23)
    assert_allclose(np.triu(mean), np.triu(expected), rtol=1e-12)
    products = [kernels.product_from_rows(X, radius, vector, exact=True, sample=one) for one in samples]
    assert_allclose(np.mean(products, axis=0), kernels.distance_product(expected, vector), rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(5, 40), st.integers(1, 9), st.sampled_from(["distance", "similarity"]))
def test_sums_and_products_are_those_of_the_slow_twin(seed, n_rows, n_features, kind):
    rng = np.random.default_rng(seed)
    X = mixed_table(rng, n_rows, n_features, share_missing=0.1)
    X[:, 0] = rng.random(n_rows)
    X = np.vstack([X, X + 0.001])  # more values than are counted
    radius, nominal = rng.random(n_features), rng.random(n_features) < 0.2
    sample = pair_sample(len(X), 3 * len(X), b"x")
    sums = continuous.sums_from_sample(X, sample, cuts(radius, kind, nominal, n_features), kind == "similarity")
    expected = sampled_pair_sums(X, radius, sample, kind, nominal)
    found = len(X) + 2 * sample.weight * (sums / (1 << 23))
    assert_allclose(np.triu(found), np.triu(expected), rtol=1e-12)
    vector = rng.random(n_features)
    product = kernels.product_from_rows(X, radius, vector, kind, nominal=nominal, exact=True, sample=sample)
    assert_allclose(product, kernels.distance_product(expected, vector), rtol=1e-9, atol=1e-9)


def test_threads_blocks_and_sparsity_do_not_change_a_bit(rng, monkeypatch):
    X = rng.random((1500, 6)) * (rng.random((1500, 6)) < 0.3)
    sample = pair_sample(len(X), 20_000, b"y")
    alone = kernels.pair_sums(X, 0.3, sample=sample, n_threads=1)
    assert_array_equal(alone, alone.T)
    monkeypatch.setattr(continuous, "BLOCK_VALUES", 3000)
    assert_array_equal(kernels.pair_sums(X, 0.3, sample=sample, n_threads=3), alone)
    assert_array_equal(kernels.pair_sums(sparse.csr_array(X), 0.3, sample=sample), alone)


def test_a_sparse_table_is_multiplied_by_the_same_pairs(rng):
    X, vector = (rng.random((60, 9)) < 0.3).astype(float), rng.random(9)
    sample = pair_sample(60, 200, b"z")
    dense = kernels.product_from_rows(X, 0.3, vector, exact=True, sample=sample)
    assert_allclose(kernels.product_from_rows(sparse.csr_array(X), 0.3, vector, sample=sample), dense, rtol=1e-12)


def test_columns_of_few_values_are_counted_and_need_no_sample(rng):
    X = rng.integers(0, 3, (400, 5)) / 2
    assert_array_equal(kernels.pair_sums(X, 0.5, sample=pair_sample(400, 1000, b"")), kernels.pair_sums(X, 0.5))


def test_sampled_sums_are_sums_of_a_measure(rng):
    X = rng.random((200, 8))
    sums, own = (S := kernels.pair_sums(X, 0.3, sample=pair_sample(200, 1000, b""))), np.diagonal(S)
    assert np.all(sums <= np.minimum(own[:, None], own)), "a minimum is no larger than either"
    assert np.all(sums >= 200)
    assert np.all(own <= 200**2)

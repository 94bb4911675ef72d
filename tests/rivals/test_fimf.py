"""FIMF: the scores against plain loops, planted features, degenerate tables."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import datasets
from fedsieve.measures.scaling import equal_width_bins
from fedsieve.rivals.fimf import FIMF
from reference.rivals import fimf_loops
from strategies import tables


def order(X, Y, **parameters):
    return FIMF(**parameters).fit(X, Y).order_.tolist()


@given(tables(max_features=8), st.integers(2, 4), st.integers(2, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_scores_and_order_are_those_of_plain_loops(X, n_labels, n_bins, n_pair_labels, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    selector = FIMF(n_bins=n_bins, n_labels=n_pair_labels).fit(X, Y)
    # The twin gets bins, which are their own bins: whether a value lies on an edge is not what is asked here.
    expected = np.array(fimf_loops.scores(equal_width_bins(X, n_bins), Y, n_bins, n_pair_labels))
    assert_allclose(selector.scores_, expected, atol=1e-9)
    assert_array_equal(selector.order_, np.argsort(-np.round(expected, 9), kind="stable"))


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("parameters", [{}, {"n_bins": 3, "n_labels": 4}], ids=str)
def test_the_order_of_emotions_is_that_of_plain_loops(parameters):
    data = datasets.load("emotions")
    X, Y = data.X[:120], data.Y[:120]
    assert order(X, Y, **parameters) == fimf_loops.order(X, Y, **parameters)


@pytest.fixture
def noise(rng):
    return rng.random((400, 12)), rng.integers(0, 2, (400, 3)).astype(float)


def test_what_tells_many_equal_labels_comes_last_by_the_formula(noise):
    # q equal labels: J(f) = q I(f; y) - q (q - 1) / 2 I(f; y), 0 for three labels, negative for more.
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(X, Y[:, [1, 1]])[0] == 8
    assert order(X, Y[:, [1, 1, 1]]) == list(range(12))  # all are 0, whatever rounding left
    assert order(X, Y[:, [1, 1, 1, 1]])[-1] == 8
    assert order(X, Y[:, [1, 1, 1, 1]], n_labels=2)[0] == 8


def test_only_the_most_entropic_labels_are_paired(rng):
    X = rng.integers(0, 2, (200, 6)).astype(float)
    Y = (rng.random((200, 4)) < [0.05, 0.5, 0.1, 0.45]).astype(float)
    paired = FIMF(n_labels=2).fit(X, Y).scores_
    both = FIMF().fit(X, Y[:, [1, 3]]).scores_
    rest = FIMF(n_labels=1).fit(X, Y[:, [0, 2]]).scores_
    assert_allclose(paired, both + rest, atol=1e-9)


def test_constant_features_score_0_and_keep_their_order(rng):
    Y = rng.integers(0, 2, (60, 2))
    X = np.hstack([np.full((60, 2), 7.0), Y, np.zeros((60, 1))])
    selector = FIMF().fit(X, Y)
    assert_array_equal(selector.scores_[[0, 1, 4]], 0.0)
    assert selector.order_.tolist()[2:] == [0, 1, 4]


def test_bins_do_not_matter_to_0_1_features_nor_does_sparse_storage(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3))
    assert order(X, Y) == order(X, Y, n_bins=7) == order(sparse.csr_array(X), Y)


def test_permuted_features_permute_the_scores(noise, rng):
    X, Y = noise
    X += Y[:, rng.integers(0, 3, 12)] * rng.random(12)
    moved = rng.permutation(12)
    assert_array_equal(FIMF().fit(X[:, moved], Y).scores_, FIMF().fit(X, Y).scores_[moved])

"""MGFS: the graph and its PageRank against plain loops, planted and degenerate tables."""

import os
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import datasets
from fedsieve.rivals.mgfs import MGFS
from reference.rivals import mgfs_loops
from strategies import tables


def order(X, Y, **parameters):
    return MGFS(**parameters).fit(X, Y).order_.tolist()


def by_loops(X, Y, constant):
    """The twin with correlations to 10 decimals: else rounding makes edges between features that are the same."""
    exact = mgfs_loops.pearson
    with patch.object(mgfs_loops, "pearson", lambda a, b: round(exact(a, b), 10)):
        return mgfs_loops.order(X, Y, constant=constant)


@given(tables(max_features=8), st.integers(2, 4), st.sampled_from(["last", "published"]), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops(X, n_labels, constant, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    assert order(X, Y, constant=constant) == by_loops(X, Y, constant)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("constant", ["last", "published"])
def test_the_order_of_emotions_is_that_of_plain_loops(constant):
    data = datasets.load("emotions")
    X, Y = data.X[:120], data.Y[:120]
    assert order(X, Y, constant=constant) == by_loops(X, Y, constant)


@pytest.fixture
def noise(rng):
    return rng.random((400, 20)), rng.integers(0, 2, (400, 3)).astype(float)


def noisy(Y, rng, share=0.1):
    return np.abs(Y - (rng.random(Y.shape) < share))


def test_noisy_copies_of_the_labels_and_mirror_images_are_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng) + 0.2 * rng.random(Y.shape)
    X[:, [0, 9, 11]] = -noisy(Y, rng)
    assert set(order(X, Y)[:6]) == {0, 2, 5, 7, 9, 11}


def test_by_its_formula_what_most_features_know_is_worth_least(noise, rng):
    X, Y = noise
    X[:, 4:] = Y[:, [0]] + rng.random((400, 16))
    assert set(order(X, Y)[:4]) == {0, 1, 2, 3}


def test_equal_features_are_neighbors_in_the_order(noise):
    X, Y = noise
    X[:, 13] = 5.0 * X[:, 4] - 2.0
    ranks = order(X, Y)
    assert ranks.index(13) == ranks.index(4) + 1


def test_constant_features_come_last_or_first_as_published(noise):
    X, Y = noise
    X[:, [3, 6]] = [7.0, 0.1]
    assert order(X, Y)[-2:] == [3, 6]
    assert order(X, Y, constant="published")[:2] == [3, 6]
    assert order(np.ones((400, 4)), Y) == order(np.ones((400, 4)), Y, constant="published") == [0, 1, 2, 3]


def test_one_feature_alone_and_two_alike(rng):
    Y = rng.integers(0, 2, (30, 2))
    assert order(rng.random((30, 1)), Y) == [0]
    assert order(rng.random((30, 2)), Y) == [0, 1]


def test_permuted_features_permute_the_order_and_scale_does_not_matter(noise, rng):
    X, Y = noise
    moved = rng.permutation(20)
    assert moved[order(1e6 * X[:, moved] - 3.0, Y)].tolist() == order(X, Y)

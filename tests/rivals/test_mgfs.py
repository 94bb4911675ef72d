"""MGFS: the graph and its PageRank against plain loops, planted and degenerate tables, scikit-learn's manners."""

import os
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.errors import ParameterError
from fedsieve.rivals.mgfs import MGFS
from reference.rivals import mgfs_loops
from strategies import tables


@parametrize_with_checks([MGFS(), MGFS(1, constant="published")])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


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


def test_a_feature_that_is_a_label_comes_first(noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(X, Y)[0] == 8


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


def test_constant_labels_leave_the_order_of_the_columns(noise):
    assert order(noise[0], np.ones((400, 3))) == list(range(20))


def test_one_feature_alone_and_two_alike(rng):
    Y = rng.integers(0, 2, (30, 2))
    assert order(rng.random((30, 1)), Y) == [0]
    assert order(rng.random((30, 2)), Y) == [0, 1]


def test_one_label_in_either_form(noise):
    X, Y = noise
    X[:, 4] = Y[:, 0]
    classes = np.where(Y[:, 0] == 1, "yes", "no")
    assert order(X, Y[:, [0]]) == order(X, classes)
    assert order(X, classes)[0] == 4


def test_more_labels_than_features(rng):
    Y = rng.integers(0, 2, (80, 9))
    X = np.stack([rng.random(80), Y[:, 3], rng.random(80)], axis=1)
    assert order(X, Y)[0] == 1


def test_0_1_features_stored_sparsely(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3))
    assert order(X, Y) == order(sparse.csr_array(X), Y)


def test_permuted_features_permute_the_order_and_scale_does_not_matter(noise, rng):
    X, Y = noise
    moved = rng.permutation(20)
    assert moved[order(1e6 * X[:, moved] - 3.0, Y)].tolist() == order(X, Y)


def test_a_bad_choice_is_named(noise):
    with pytest.raises(ParameterError, match=r"^MGFS: constant must be one of 'last', 'published'; got 'first'\.$"):
        MGFS(constant="first").fit(*noise)

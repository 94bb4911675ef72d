"""D2F: the greedy search against plain loops, planted features, degenerate tables, scikit-learn's manners."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.errors import DataError, ParameterError
from fedsieve.rivals.bins import equal_width_bins
from fedsieve.rivals.d2f import D2F
from reference.rivals import d2f_loops
from strategies import tables


@parametrize_with_checks([D2F(), D2F(1, n_bins=3)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def order(X, Y, **parameters):
    return D2F(**parameters).fit(X, Y).order_.tolist()


def by_loops(F, Y):
    """The twin's sums; what differs by less than 1e-9 bits is a tie, which goes to the smaller index."""
    features, labels = F.T.tolist(), Y.T.tolist()
    score = [sum(d2f_loops.information(f, y) for y in labels) for f in features]
    chosen = []
    while len(chosen) < len(features):
        left = [f for f in range(len(features)) if f not in chosen]
        best = max(score[f] for f in left)
        chosen.append(next(f for f in left if score[f] > best - 1e-9))
        for f in left:
            score[f] -= sum(d2f_loops.interaction(features[f], features[chosen[-1]], y) for y in labels)
    return chosen


@given(tables(max_features=8), st.integers(2, 4), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops(X, n_labels, n_bins, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    assert order(X, Y, n_bins=n_bins) == by_loops(equal_width_bins(X, n_bins), Y)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("n_bins", [2, 3])
def test_the_order_of_emotions_is_that_of_plain_loops(n_bins):
    data = datasets.load("emotions")
    X, Y = data.X[:120, ::4], data.Y[:120]  # the twin sums over all chosen features anew in each round
    assert order(X, Y, n_bins=n_bins) == d2f_loops.order(X, Y, n_bins=n_bins)


@pytest.fixture
def noise(rng):
    return rng.random((400, 12)), rng.integers(0, 2, (400, 3)).astype(float)


def noisy(Y, rng, share=0.1):
    return np.abs(Y - (rng.random(Y.shape) < share))


def test_noisy_copies_of_the_labels_are_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng) + 0.2 * rng.random(Y.shape)
    X[:, [0, 9, 11]] = noisy(Y, rng)
    assert set(order(X, Y)[:6]) == {0, 2, 5, 7, 9, 11}


def test_a_feature_that_is_a_label_comes_first(noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(X, Y)[0] == 8
    assert order(X, 1 - Y)[0] == 8


def test_an_exact_copy_of_a_chosen_feature_is_worth_no_more_than_noise(noise):
    X, Y = noise
    X[:, [3, 8]] = Y[:, [1, 1]]
    ranks = order(X, Y)
    assert ranks[0] == 3
    assert ranks[1] != 8


def test_features_that_tell_a_label_only_together_find_each_other(rng):
    X = rng.integers(0, 2, (400, 8)).astype(float)
    Y = np.stack([X[:, 1] != X[:, 6], rng.random(400) < 0.5], axis=1).astype(float)
    ranks = order(X, Y)
    assert abs(ranks.index(1) - ranks.index(6)) == 1


def test_constant_features_tell_nothing_and_keep_their_order(rng):
    Y = rng.integers(0, 2, (60, 2))
    X = np.hstack([np.full((60, 2), 7.0), Y, np.zeros((60, 1))])
    assert order(X, Y)[2:] == [0, 1, 4]
    assert order(np.ones((60, 3)), Y) == [0, 1, 2]


def test_constant_labels_leave_the_order_of_the_columns(rng):
    X = rng.random((30, 5))
    assert order(X, np.ones((30, 3))) == [0, 1, 2, 3, 4]


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


def test_bins_do_not_matter_to_0_1_features_nor_does_sparse_storage(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3))
    assert order(X, Y) == order(X, Y, n_bins=7) == order(sparse.csr_array(X), Y)


def test_permuted_features_permute_the_order(noise, rng):
    X, Y = noise
    X += Y[:, rng.integers(0, 3, 12)] * rng.random(12)
    moved = rng.permutation(12)
    assert moved[order(X[:, moved], Y, n_bins=3)].tolist() == order(X, Y, n_bins=3)


def test_scores_are_places(noise):
    selector = D2F(4).fit(*noise)
    assert_array_equal(np.argsort(-selector.scores_), selector.order_)
    assert selector.transform(noise[0]).shape == (400, 4)


@pytest.mark.parametrize("n_bins", [1, 2.5, True, "many", None])
def test_bad_bins_are_named(noise, n_bins):
    message = rf"^D2F: n_bins must be a whole number of at least 2; got {n_bins!r}\.$"
    with pytest.raises(ParameterError, match=message):
        D2F(n_bins=n_bins).fit(*noise)


def test_labels_must_be_there(noise):
    with pytest.raises(DataError, match=r"^D2F: requires y"):
        D2F().fit(noise[0])

"""RFNMIFS: the search against plain loops, planted features, scikit-learn's manners."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.rivals.rfnmifs import RFNMIFS
from fedsieve.selectors.labels import read_labels
from reference.rivals import rfnmifs_loops
from strategies import tables

SETTINGS = ({}, {"n_neighbors": 2, "gain": 0.0})


@parametrize_with_checks([RFNMIFS(), RFNMIFS(1, n_neighbors=2, gain=0.0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def order(X, Y, **parameters):
    return RFNMIFS(**parameters).fit(X, Y).order_.tolist()


@settings(max_examples=100)
@given(tables(max_features=8), st.integers(1, 4), st.sampled_from(SETTINGS), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops(X, n_labels, parameters, binary, seed):
    X = np.round(X) if binary else X
    rng = np.random.default_rng(seed)
    Y = (rng.random((len(X), n_labels)) < rng.choice([0.15, 0.5, 0.8])).astype(float)
    Y, _ = read_labels(Y)  # one label becomes one column for each of its values
    assert order(X, Y, **parameters) == list(rfnmifs_loops.order(X, Y, **parameters))


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_order_of_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y = data.X[:120, :36], data.Y[:120]
    assert order(X, Y) == list(rfnmifs_loops.order(X, Y))


def test_noisy_copies_of_the_labels_are_on_top(rng):
    X, Y = rng.random((200, 10)), rng.integers(0, 2, (200, 3))
    X[:, [1, 4, 8]] = Y + 0.2 * rng.random((200, 3))
    assert set(order(X, Y)[:3]) == {1, 4, 8}


def test_a_feature_that_is_a_label_comes_first(rng):
    X, Y = rng.random((200, 8)), rng.integers(0, 2, (200, 3))
    X[:, 5] = Y[:, 1]
    assert order(X, Y)[0] == 5
    assert order(X, 1 - Y)[0] == 5


def test_0_1_features(rng):
    X, Y = rng.integers(0, 2, (200, 20)).astype(float), rng.integers(0, 2, (200, 3))
    X[:, [2, 7, 15]] = np.abs(Y - (rng.random(Y.shape) < 0.05))
    assert set(order(X, Y)[:3]) == {2, 7, 15}

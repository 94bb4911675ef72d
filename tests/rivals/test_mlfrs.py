"""MLFRS: the search against plain loops, planted features, scikit-learn's manners."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.rivals.mlfrs import MLFRS
from fedsieve.selectors.labels import read_labels
from reference.rivals import mlfrs_loops
from strategies import tables

SETTINGS = ({}, {"n_neighbors": 1, "gain": 0.0})


@parametrize_with_checks([MLFRS(), MLFRS(1, n_neighbors=1, gain=0.0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def order(X, Y, **parameters):
    return MLFRS(**parameters).fit(X, Y).order_.tolist()


@settings(max_examples=100)
@given(tables(max_features=8), st.integers(1, 4), st.sampled_from(SETTINGS), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops(X, n_labels, parameters, binary, seed):
    X = np.round(X) if binary else X
    rng = np.random.default_rng(seed)
    Y = (rng.random((len(X), n_labels)) < rng.choice([0.15, 0.5, 0.8])).astype(float)
    Y, _ = read_labels(Y)  # one label becomes one column for each of its values
    assert order(X, Y, **parameters) == list(mlfrs_loops.order(X, Y, **parameters))


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_order_of_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y = data.X[:120, :36], data.Y[:120]
    assert order(X, Y) == list(mlfrs_loops.order(X, Y))


def test_noisy_copies_of_one_label_are_on_top(rng):
    X, y = rng.random((200, 10)), rng.integers(0, 2, (200, 1))
    X[:, [1, 4, 8]] = y + 0.2 * rng.random((200, 3))
    assert set(order(X, y)[:3]) == {1, 4, 8}


def test_a_copy_of_one_of_several_labels_is_behind_noise(rng):
    """Samples with other labels may agree in this one, so alone it keeps the nearest of them no distance apart."""
    X, Y = rng.random((200, 10)), rng.integers(0, 2, (200, 3))
    X[:, [1, 4, 8]] = Y
    assert order(X, Y)[0] not in {1, 4, 8}
    X[:, [1, 4]] = rng.random((200, 2))
    assert order(X, Y, gain=1.0)[-1] == 8


def test_0_1_features_are_told_apart_only_if_one_of_them_is_enough(rng):
    X, Y = rng.integers(0, 2, (200, 20)).astype(float), rng.integers(0, 2, (200, 3))
    X[:, [2, 7, 15]] = Y
    assert order(X, Y) == list(range(20))
    assert order(X, Y[:, [1]])[0] == 7

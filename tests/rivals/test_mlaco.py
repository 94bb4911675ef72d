"""MLACO: the walks against plain loops, planted and degenerate tables, seeds, scikit-learn's manners."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.errors import ParameterError
from fedsieve.rivals.mlaco import MLACO
from reference.rivals import mlaco_loops
from strategies import tables


@parametrize_with_checks([MLACO(), MLACO(1, n_cycles=3, n_ants=2, decay=0.5, beta=2.0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def order(X, Y, **parameters):
    return MLACO(**{"random_state": 0, **parameters}).fit(X, Y).order_.tolist()


@given(
    tables(max_features=8),
    st.integers(2, 4),
    st.integers(1, 6),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.integers(0, 2**32 - 1),
)
def test_the_order_is_that_of_plain_loops(X, n_labels, n_cycles, n_ants, decay, beta, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    parameters = {"n_cycles": n_cycles, "n_ants": n_ants, "decay": decay, "beta": beta, "random_state": seed}
    assert order(X, Y, **parameters) == mlaco_loops.order(X, Y, **parameters)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_order_of_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y = data.X[:120], data.Y[:120]
    assert order(X, Y, n_cycles=4) == mlaco_loops.order(X, Y, n_cycles=4, random_state=0)


@pytest.fixture
def noise(rng):
    return rng.random((400, 30)), rng.integers(0, 2, (400, 3)).astype(float)


def noisy(Y, rng, share=0.1):
    return np.abs(Y - (rng.random(Y.shape) < share))


def test_noisy_copies_of_the_labels_are_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng)
    for seed in range(5):
        assert set(order(X, Y, random_state=seed)[:3]) == {2, 5, 7}


def test_a_feature_that_is_a_label_comes_first(noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(X, Y)[0] == 8


def test_constant_features_are_only_visited_when_nothing_attracts(noise):
    X, Y = noise
    X[:, [0, 6]] = 0.0
    assert order(X, Y)[-2:] == [0, 6]
    assert sorted(order(np.ones((400, 30)), Y)) == list(range(30))


def test_constant_labels_leave_it_to_chance(noise):
    X, _ = noise
    assert sorted(order(X, np.ones((400, 3)))) == list(range(30))
    assert sorted(order(X, np.zeros((400, 3)))) == list(range(30))


def test_equal_features_hold_each_other_back(noise, rng):
    X, Y = noise
    X[:, [3, 8]] = Y[:, [1, 1]]
    X[:, 5] = noisy(Y[:, 2], rng)
    assert set(order(X, Y)[:3]) == {3, 5, 8}


def test_seeds_decide(noise):
    X, Y = noise
    assert order(X, Y, random_state=3) == order(X, Y, random_state=np.random.RandomState(3))
    assert order(X, Y, random_state=3) != order(X, Y, random_state=4)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_few_features(rng, n_features):
    Y = rng.integers(0, 2, (30, 5))
    assert sorted(order(rng.random((30, n_features)), Y)) == list(range(n_features))


def test_one_label_in_either_form(noise):
    X, Y = noise
    X[:, 4] = Y[:, 0]
    classes = np.where(Y[:, 0] == 1, "yes", "no")
    assert order(X, Y[:, [0]]) == order(X, classes)
    assert order(X, classes)[0] == 4


def test_more_labels_than_features(rng):
    Y = rng.integers(0, 2, (80, 9))
    X = rng.random((80, 8))
    X[:, 1] = Y[:, 3]
    assert order(X, Y)[0] == 1


def test_0_1_features_stored_sparsely(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3))
    assert order(X, Y) == order(sparse.csr_array(X), Y)


def test_permuted_features_keep_the_planted_ones_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng)
    moved = rng.permutation(30)
    assert set(moved[order(X[:, moved], Y)[:3]]) == {2, 5, 7}


@pytest.mark.parametrize("name", ["n_cycles", "n_ants"])
@pytest.mark.parametrize("value", [0, 2.5, True, "many", None])
def test_bad_counts_are_named(noise, name, value):
    with pytest.raises(ParameterError, match=rf"^MLACO: {name} must be a whole number of at least 1; got {value!r}\.$"):
        MLACO(**{name: value}).fit(*noise)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("decay", -0.1, r"in \[0, 1\]"),
        ("decay", 1.5, r"in \[0, 1\]"),
        ("decay", "some", r"in \[0, 1\]"),
        ("beta", -1.0, r"in \[0, 10\]"),
        ("beta", 11, r"in \[0, 10\]"),
        ("beta", float("nan"), r"in \[0, 10\]"),
    ],
)
def test_bad_weights_are_named(noise, name, value, rule):
    with pytest.raises(ParameterError, match=rf"^MLACO: {name} must be a number {rule}; got {value!r}\.$"):
        MLACO(**{name: value}).fit(*noise)

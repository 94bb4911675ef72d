"""MLACO: the walks against plain loops, planted and degenerate tables, seeds."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import datasets
from fedsieve.rivals.mlaco import MLACO
from reference.rivals import mlaco_loops
from strategies import tables


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


def test_permuted_features_keep_the_planted_ones_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng)
    moved = rng.permutation(30)
    assert set(moved[order(X[:, moved], Y)[:3]]) == {2, 5, 7}

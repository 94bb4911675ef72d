"""D2F: the greedy search against plain loops, planted features, degenerate tables."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fedsieve import datasets
from fedsieve.measures.scaling import equal_width_bins
from fedsieve.rivals.d2f import D2F
from reference.rivals import d2f_loops
from strategies import tables


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


def test_bins_do_not_matter_to_0_1_features_nor_does_sparse_storage(rng):
    X = (rng.random((90, 10)) < 0.2).astype(float)
    Y = rng.integers(0, 2, (90, 3))
    assert order(X, Y) == order(X, Y, n_bins=7) == order(sparse.csr_array(X), Y)

"""The forward search, and the four methods that search so against plain loops."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import datasets
from fedsieve.rivals import MLFRS, MLFSNRS, MLNRS, RFNMIFS
from fedsieve.rivals.forward_search import carries_all, followed_by, forward
from fedsieve.selectors.inputs import read_labels
from reference.rivals import mlfrs_loops, mlfsnrs_loops, mlnrs_loops, rfnmifs_loops
from strategies import tables

TWINS = {
    RFNMIFS: (rfnmifs_loops, {"n_neighbors": 2, "gain": 0.0}),
    MLFSNRS: (mlfsnrs_loops, {"keep": 0.5, "gain": 0.01}),
    MLNRS: (mlnrs_loops, {"radius": 0.4, "gain": 0.0}),
    MLFRS: (mlfrs_loops, {"n_neighbors": 1, "gain": 0.0}),
}
every_method = pytest.mark.parametrize("method", TWINS)


@every_method
@settings(max_examples=40)
@given(
    X=tables(max_features=8),
    n_labels=st.integers(1, 4),
    default=st.booleans(),
    binary=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_order_is_that_of_plain_loops(method, X, n_labels, default, binary, seed):
    twin, others = TWINS[method]
    parameters = {} if default else others
    X = np.round(X) if binary else X
    rng = np.random.default_rng(seed)
    Y = (rng.random((len(X), n_labels)) < rng.choice([0.15, 0.5, 0.8])).astype(float)
    Y, _ = read_labels(Y)  # one label becomes one column for each of its values
    assert method(**parameters).fit(X, Y).order_.tolist() == list(twin.order(X, Y, **parameters))


@every_method
@pytest.mark.full
@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_order_of_emotions_is_that_of_plain_loops(method):
    data = datasets.load("emotions")
    X, Y = data.X[:120, :36], data.Y[:120]
    assert method().fit(X, Y).order_.tolist() == list(TWINS[method][0].order(X, Y))


def test_who_carries_all_labels_of_whom():
    Y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert carries_all(Y).tolist() == [[True, True, False], [False, True, False], [True, True, True]]


def test_the_search_stops_before_the_pick_that_is_not_worth_it():
    worth = np.array([0.1, 0.5, 0.3, 0.5])
    added = []

    def criteria(features):
        return [worth[features] + sum(worth[added])]

    everything = np.array([True, True, True, True])
    picked, alone = forward(
        everything, criteria, [0.0], [np.array([0, 0, 0, 1.0])], added.append, lambda rise: rise[0] < 0.2
    )
    assert picked == added == [3, 1, 2]
    assert alone[0].tolist() == worth.tolist()
    assert followed_by(picked, np.array([0, 1, 2, 3])).tolist() == [3, 1, 2, 0]
    assert forward(~everything, criteria, [0.0], [], added.append, lambda _: False) == ([], ())


def test_more_neighbors_than_rows_are_all_rows(rng):
    X, Y = rng.random((20, 4)), rng.integers(0, 2, (20, 2))
    for method in (RFNMIFS, MLFRS):
        assert (method(n_neighbors=10**12).fit(X, Y).order_ == method(n_neighbors=20).fit(X, Y).order_).all()

"""SCFC: plain loops, neighbors that are kept or found anew, its parameters."""

import os

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import datasets
from fedsieve.rivals import CSFS, SCFC
from reference.rivals.scfc_loops import scfc_loops
from strategies import partly_labeled

WEIGHTS = st.sampled_from([0.01, 1.0, 30.0])


def fit(X, Y, labeled, **parameters):
    return SCFC(**parameters).fit(X, np.where(labeled[:, None], Y, -1))


def compare(table, **parameters):
    fitted = fit(*table, **parameters)
    W, objective = scfc_loops(*table, **parameters)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-8 * (1 + np.abs(W).max()))
    assert_allclose(fitted.objective_, objective, rtol=1e-9, atol=1e-9)


@given(partly_labeled(), WEIGHTS, WEIGHTS, st.integers(1, 25), st.integers(1, 8))
def test_it_is_that_of_plain_loops(table, alpha, beta, n_neighbors, max_iter):
    compare(table, alpha=alpha, beta=beta, n_neighbors=n_neighbors, refresh=False, tol=0.0, max_iter=max_iter)


@given(partly_labeled(min_labeled=2, ties=False), st.integers(1, 6), st.integers(1, 4))
def test_it_is_that_of_plain_loops_with_neighbors_found_anew(table, n_neighbors, max_iter):
    assume(table[0].any())  # otherwise all distances are equal, but for rounding
    compare(table, alpha=1.0, beta=0.1, n_neighbors=n_neighbors, refresh=True, tol=0.0, max_iter=max_iter)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("refresh", [False, True])
def test_emotions_is_that_of_plain_loops(refresh):
    data = datasets.load("emotions")
    table = data.X[:100, ::2], data.Y[:100], np.arange(100) % 3 == 0
    compare(table, alpha=1.0, beta=1.0, n_neighbors=5, refresh=refresh, tol=1e-4, max_iter=50)


def test_without_the_graph_only_the_penalty_differs_from_csfs(rng):
    """Its weight is half as large there, and the lengths are smoothed in another way."""
    X, Y = rng.random((40, 5)), np.where(np.arange(40)[:, None] < 15, rng.integers(0, 2, (40, 3)), -1)
    limits = {"tol": 0.0, "max_iter": 300}
    ours, other = SCFC(alpha=0.0, beta=1.0, **limits).fit(X, Y), CSFS(alpha=0.5, **limits).fit(X, Y)
    assert_allclose(ours.scores_, other.scores_, atol=1e-3)


def test_found_anew_neighbors_make_a_difference(rng):
    X, Y = rng.random((40, 5)), np.where(np.arange(40)[:, None] < 15, rng.integers(0, 2, (40, 3)), -1)
    assert not np.allclose(SCFC(refresh=True).fit(X, Y).scores_, SCFC().fit(X, Y).scores_, rtol=1e-3)


def test_equal_rows_with_neighbors_found_anew(rng):
    X = np.repeat(rng.integers(0, 2, (9, 6)).astype(float), 4, axis=0)
    Y = np.where(np.arange(36)[:, None] % 3 == 0, rng.integers(0, 2, (36, 3)), -1)
    assert np.isfinite(SCFC(refresh=True).fit(X, Y).scores_).all()

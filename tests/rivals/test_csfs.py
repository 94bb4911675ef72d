"""CSFS: plain loops, the convex objective, its parameter."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import datasets
from fedsieve.rivals import CSFS
from reference.rivals.csfs_loops import csfs_loops
from strategies import partly_labeled

WEIGHTS = st.sampled_from([0.01, 1.0, 30.0])


def fit(X, Y, labeled, **parameters):
    return CSFS(**parameters).fit(X, np.where(labeled[:, None], Y, -1))


@given(partly_labeled(), WEIGHTS, st.integers(1, 8))
def test_it_is_that_of_plain_loops(table, alpha, max_iter):
    parameters = {"alpha": alpha, "tol": 0.0, "max_iter": max_iter}
    fitted = fit(*table, **parameters)
    W, objective = csfs_loops(*table, **parameters)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-8 * (1 + np.abs(W).max()))
    assert_allclose(fitted.objective_, objective, rtol=1e-9, atol=1e-9)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y, labeled = data.X[:100, ::2], data.Y[:100], np.arange(100) % 3 == 0
    fitted = fit(X, Y, labeled)
    W, objective = csfs_loops(X, Y, labeled, alpha=1, tol=1e-3, max_iter=100)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-9)
    assert_allclose(fitted.objective_, objective, rtol=1e-10)
    assert (np.diff(fitted.objective_) <= 0).all()


@given(partly_labeled(), WEIGHTS)
def test_the_objective_never_rises(table, alpha):
    objective = fit(*table, alpha=alpha, tol=0.0, max_iter=40).objective_
    assert (np.diff(objective) <= 1e-11 * (1 + objective[:-1])).all()


def test_it_ends_where_no_step_leads_down(rng):
    """The objective is convex in W, b and the soft labels: a least value nearby is the least of all."""
    X, Y, labeled = rng.random((30, 4)), rng.integers(0, 2, (30, 2)).astype(float), np.arange(30) < 12
    X[0], X[-1] = 0.0, 1.0
    fitted = fit(X, Y, labeled, alpha=0.5, tol=1e-13, max_iter=5000)
    X = X - X.mean(axis=0)

    def objective(W, b):
        """With the best soft labels for them."""
        predictions = X @ W + b
        F = np.where(labeled[:, None], Y, np.clip(predictions, 0, 1))
        return ((predictions - F) ** 2).sum() + np.linalg.norm(W, axis=1).sum()

    here = objective(fitted.coef_, fitted.intercept_)
    assert fitted.objective_[-1] == pytest.approx(here, rel=1e-5)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            W, b = fitted.coef_ + size * rng.normal(size=(4, 2)), fitted.intercept_ + size * rng.normal(size=2)
            assert objective(W, b) > here - 1e-4


def test_without_unlabeled_rows_and_with_little_weight_it_is_least_squares(rng):
    X, Y = rng.random((40, 3)), rng.integers(0, 2, (40, 2))
    fitted = CSFS(alpha=1e-9, tol=0.0).fit(X, Y)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    expected = np.linalg.lstsq(scaled - scaled.mean(axis=0), Y - Y.mean(axis=0))[0]
    assert_allclose(fitted.coef_, expected, atol=1e-6)
    assert_allclose(fitted.intercept_, Y.mean(axis=0))

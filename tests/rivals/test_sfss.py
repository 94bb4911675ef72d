"""SFSS: plain loops, the convex objective, its parameters."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import datasets
from fedsieve.rivals import SFSS
from reference.rivals.row_graph_loops import binary_laplacian, squared_distances
from reference.rivals.sfss_loops import sfss_loops
from strategies import partly_labeled

WEIGHTS = st.sampled_from([0.01, 1.0, 30.0])


def fit(X, Y, labeled, **parameters):
    return SFSS(**parameters).fit(X, np.where(labeled[:, None], Y, -1))


@given(partly_labeled(), WEIGHTS, WEIGHTS, st.integers(1, 25), st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 6))
def test_it_is_that_of_plain_loops(table, mu, gamma, n_neighbors, unlabeled_weight, max_iter):
    parameters = {
        "mu": mu,
        "gamma": gamma,
        "n_neighbors": n_neighbors,
        "unlabeled_weight": unlabeled_weight,
        "tol": 0.0,
        "max_iter": max_iter,
    }
    fitted = fit(*table, **parameters)
    W, objective = sfss_loops(*table, **parameters)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-8 * (1 + np.abs(W).max()))
    assert_allclose(fitted.objective_, objective, rtol=1e-9, atol=1e-11)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y, labeled = data.X[:100, ::2], data.Y[:100], np.arange(100) % 3 == 0
    fitted = fit(X, Y, labeled)
    W, objective = sfss_loops(X, Y, labeled, mu=1, gamma=1, n_neighbors=15, unlabeled_weight=1.0, tol=1e-4, max_iter=50)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-9)
    assert_allclose(fitted.objective_, objective, rtol=1e-10)
    assert (np.diff(fitted.objective_) <= 0).all()


@given(partly_labeled(), WEIGHTS, WEIGHTS, st.sampled_from([0.0, 1.0]))
def test_the_objective_never_rises(table, mu, gamma, unlabeled_weight):
    parameters = {"mu": mu, "gamma": gamma, "unlabeled_weight": unlabeled_weight}
    objective = fit(*table, **parameters, tol=0.0, max_iter=30).objective_
    assert (np.diff(objective) <= 1e-11 * (1 + objective[:-1])).all()


def test_it_ends_where_no_step_leads_down(rng):
    """The objective is convex in W, b and the soft labels: a least value nearby is the least of all."""
    X, Y, labeled = rng.random((30, 4)), rng.integers(0, 2, (30, 2)).astype(float), np.arange(30) < 12
    X[0], X[-1] = 0.0, 1.0
    fitted = fit(X, Y, labeled, tol=1e-13, max_iter=3000, unlabeled_weight=0.5)
    laplacian, X = binary_laplacian(squared_distances(X), 15), X - X.mean(axis=0)

    def objective(W, b, F):
        squares = np.trace(F.T @ laplacian @ F) + 0.5 * (F[~labeled] ** 2).sum() + ((X @ W + b - F) ** 2).sum()
        return squares + np.linalg.norm(W, axis=1).sum()

    W, b = fitted.coef_, fitted.intercept_
    # Given W and b, the soft labels are a linear system.
    F = Y.copy()
    left, right = laplacian + 1.5 * np.eye(30), X @ W + b
    known = laplacian[np.ix_(~labeled, labeled)] @ Y[labeled]
    F[~labeled] = np.linalg.solve(left[np.ix_(~labeled, ~labeled)], right[~labeled] - known)
    assert_allclose(F.mean(axis=0), b)
    assert fitted.objective_[-1] == pytest.approx(objective(W, b, F), rel=1e-5)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            step = np.where(labeled[:, None], 0.0, size * rng.normal(size=F.shape))
            there = objective(W + size * rng.normal(size=W.shape), b + size * rng.normal(size=2), F + step)
            assert there > objective(W, b, F) - 1e-4

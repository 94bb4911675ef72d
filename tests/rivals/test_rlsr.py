"""RLSR: plain loops, the three kinds of soft labels, shares of importance, its parameters."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import datasets
from fedsieve.rivals.rlsr import RLSR, on_simplex
from fedsieve.rivals.semi_supervised import in_box
from reference.rivals.rlsr_loops import onto_simplex, rlsr_loops
from strategies import partly_labeled

WEIGHTS = st.sampled_from([0.01, 1.0, 30.0])
KINDS = ("simplex", "normalized", "box")


def fit(X, Y, labeled, **parameters):
    return RLSR(**parameters).fit(X, np.where(labeled[:, None], Y, -1))


@given(partly_labeled(), WEIGHTS, st.sampled_from(KINDS), st.integers(1, 10), st.integers(1, 6))
def test_it_is_that_of_plain_loops(table, gamma, soft_labels, n_inner, max_iter):
    parameters = {
        "gamma": gamma,
        "soft_labels": soft_labels,
        "n_inner": n_inner,
        "tol": 0.0,
        "max_iter": max_iter,
    }
    fitted = fit(*table, **parameters)
    theta, objective = rlsr_loops(*table, **parameters)
    # Where the optimum is flat, rounding decides where on it a step ends; the objective is the same all over it.
    assert_allclose(fitted.scores_, theta, rtol=1e-6, atol=1e-6)
    assert_allclose(fitted.objective_, objective, rtol=1e-8, atol=1e-9)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("soft_labels", KINDS)
def test_emotions_is_that_of_plain_loops(soft_labels):
    data = datasets.load("emotions")
    X, Y, labeled = data.X[:100, ::2], data.Y[:100], np.arange(100) % 3 == 0
    fitted = fit(X, Y, labeled, soft_labels=soft_labels)
    theta, objective = rlsr_loops(X, Y, labeled, gamma=1, soft_labels=soft_labels, n_inner=10, tol=1e-8, max_iter=100)
    assert_allclose(fitted.scores_, theta, rtol=1e-6, atol=1e-9)
    assert_allclose(fitted.objective_, objective, rtol=1e-10)


@pytest.mark.parametrize("soft_labels", KINDS)
def test_the_scores_are_the_shares_of_the_coefficients(rng, soft_labels):
    X, Y, labeled = rng.random((40, 6)), rng.integers(0, 2, (40, 3)), np.arange(40) < 15
    fitted = fit(X, Y, labeled, soft_labels=soft_labels)
    lengths = np.linalg.norm(fitted.coef_, axis=1) + 1e-5
    assert_allclose(fitted.scores_, lengths / lengths.sum())


@pytest.mark.full
def test_the_lowest_objective_is_kept(rng):
    """It can rise, since no share of importance becomes 0."""
    parameters = {"gamma": 100.0, "tol": 0.0}
    for _ in range(100):
        X, Y, labeled = rng.random((12, 5)), rng.integers(0, 2, (12, 3)), np.arange(12) < 3
        longer = fit(X, Y, labeled, **parameters, max_iter=40)
        best = int(np.argmin(longer.objective_))
        if longer.objective_[-1] > (1 + 1e-9) * longer.objective_[best]:
            break
    assert best < 39
    shorter = fit(X, Y, labeled, **parameters, max_iter=best + 1)
    assert_array_equal(longer.coef_, shorter.coef_)
    assert_array_equal(longer.scores_, shorter.scores_)
    assert_array_equal(longer.intercept_, shorter.intercept_)
    later = fit(X, Y, labeled, **parameters, max_iter=best + 2)
    assert_array_equal(later.coef_, shorter.coef_)


def test_normalised_rows_are_shares_of_their_labels(rng):
    """A row without labels stays as it is."""
    X, Y = rng.random((30, 4)), rng.integers(0, 2, (30, 3)).astype(float)
    Y[4] = 0.0
    assert (Y.sum(axis=1) > 1).any()
    shares = np.array([row / row.sum() if row.any() else row for row in Y])
    fitted = RLSR(soft_labels="normalized").fit(X, Y)
    assert_allclose(fitted.intercept_, shares.mean(axis=0))
    plain = RLSR().fit(X, Y)
    assert_allclose(plain.intercept_, Y.mean(axis=0))
    assert not np.allclose(plain.scores_, fitted.scores_)


@given(arrays(float, st.tuples(st.integers(0, 4), st.integers(1, 6)), elements=st.floats(-5, 5, width=16)))
def test_rows_go_to_the_nearest_point_of_the_simplex(rows):
    projected = on_simplex(rows)
    assert (projected >= 0).all()
    assert_allclose(projected.sum(axis=1), 1.0)
    for row, found in zip(rows, projected, strict=True):
        assert_allclose(found, onto_simplex(row.tolist()), atol=1e-12)
        # Nearest: no corner lies on the row's side of the plane through it.
        assert ((np.eye(len(row)) - found) @ (row - found)).max() <= 1e-9


def test_rows_of_the_simplex_and_the_box_stay():
    rows = np.array([[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]])
    assert_allclose(on_simplex(rows), rows, atol=1e-15)
    assert_allclose(in_box(rows), rows)

"""FSNM: the objective, both solvers, the published iteration, planted and degenerate tables."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import datasets
from fedsieve.rivals.fsnm import FSNM, sparse_regression, weighted_solve_by_features, weighted_solve_by_rows
from fedsieve.rivals.row_sparse import EPSILON
from reference.rivals import fsnm_loops
from strategies import tables

GAMMAS = st.sampled_from([1e-3, 0.1, 1.0, 7.0, 1e3])


def order(X, Y, **parameters):
    return FSNM(**parameters).fit(X, Y).order_.tolist()


def labels_for(X, n_labels, seed):
    return np.random.default_rng(seed).integers(0, 2, (len(X), n_labels)).astype(float)


@given(tables(max_features=12), st.integers(2, 4), GAMMAS, st.booleans(), st.integers(0, 2**32 - 1))
def test_the_objective_never_rises(X, n_labels, gamma, fit_intercept, seed):
    Y = labels_for(X, n_labels, seed)
    objective = FSNM(gamma=gamma, fit_intercept=fit_intercept, tol=0.0, max_iter=40).fit(X, Y).objective_
    assert len(objective) == 40
    assert (np.diff(objective) <= 1e-11 * (1 + objective[:-1])).all()


@given(tables(max_features=12), st.integers(2, 4), GAMMAS, st.integers(0, 2**32 - 1))
def test_both_solvers_take_the_same_step(X, n_labels, gamma, seed):
    rng = np.random.default_rng(seed)
    Y = labels_for(X, n_labels, seed)
    s, t = rng.random(len(X)) + EPSILON, rng.random(X.shape[1]) + EPSILON
    by_rows, by_features = (solve(X, Y, s, t, gamma) for solve in (weighted_solve_by_rows, weighted_solve_by_features))
    assert_allclose(by_rows, by_features, rtol=1e-6, atol=1e-9 * (1e-9 + np.abs(by_rows).max()))


@pytest.mark.parametrize("shape", [(15, 40), (40, 15), (30, 30)])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_both_solvers_give_the_same_ranking(rng, monkeypatch, shape, gamma):
    X, Y = rng.random(shape), rng.integers(0, 2, (shape[0], 3))
    ours = order(X, Y, gamma=gamma)
    for solver in (weighted_solve_by_rows, weighted_solve_by_features):
        monkeypatch.setattr("fedsieve.rivals.fsnm.weighted_solve_by_rows", solver)
        monkeypatch.setattr("fedsieve.rivals.fsnm.weighted_solve_by_features", solver)
        assert order(X, Y, gamma=gamma) == ours


@pytest.mark.parametrize("shape", [(15, 40), (40, 15)])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_the_steps_are_those_of_the_published_constrained_form(rng, shape, gamma):
    """min ‖U‖₂,₁ with [X, gamma I] U = Y, U = [W; residuals / gamma], and 1e-6 on the diagonal of the system."""
    X, Y = rng.random(shape), rng.integers(0, 2, (shape[0], 3)).astype(float)
    A = np.hstack([X, gamma * np.eye(len(X))])
    weights = np.ones(A.shape[1])
    for n_steps in range(1, 8):
        U = weights[:, None] * A.T @ np.linalg.solve(A * weights @ A.T + 1e-6 * np.eye(len(X)), Y)
        weights = 2 * np.linalg.norm(U, axis=1)
        W, _ = sparse_regression(X, Y, gamma, 0.0, n_steps)
        assert_allclose(np.linalg.norm(W, axis=1), weights[: X.shape[1]] / 2, rtol=1e-3, atol=1e-4)


@given(tables(max_features=8), st.integers(2, 4), st.booleans(), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops(X, n_labels, fit_intercept, max_iter, seed):
    Y = labels_for(X, n_labels, seed)
    parameters = {"fit_intercept": fit_intercept, "tol": 0.0, "max_iter": max_iter}
    fitted = FSNM(**parameters).fit(X, Y)
    norms = np.array(fsnm_loops.weight_norms(X, Y, eps=EPSILON, **parameters))
    assert_allclose(fitted.scores_, norms, rtol=1e-6, atol=1e-9)
    assert fitted.order_.tolist() == fsnm_loops.order(X, Y, eps=EPSILON, **parameters)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_order_of_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    X, Y = data.X[:120, ::4], data.Y[:120]
    assert order(X, Y, max_iter=6) == fsnm_loops.order(X, Y, eps=EPSILON, max_iter=6)


def test_it_ends_where_no_step_leads_down(rng):
    """The objective is convex: a least value nearby is the least of all."""
    X, Y = rng.random((30, 4)), rng.integers(0, 2, (30, 2)).astype(float)

    def objective(W):
        return np.linalg.norm(X @ W - Y, axis=1).sum() + np.linalg.norm(W, axis=1).sum()

    W, smoothed = sparse_regression(X, Y, 1.0, 1e-12, 5000)
    assert len(smoothed) < 5000
    assert objective(W) >= smoothed[-1] == pytest.approx(objective(W), rel=1e-4)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        assert all(objective(W + size * rng.normal(size=W.shape)) > objective(W) - 1e-4 for _ in range(100))


def test_the_tolerance_stops_it(rng):
    X, Y = rng.random((30, 6)), rng.integers(0, 2, (30, 2))
    fitted = FSNM(tol=1e-2).fit(X, Y)
    changes = -np.diff(fitted.objective_)
    assert fitted.n_iter_ == len(fitted.objective_) > 2
    assert (changes[:-1] >= 1e-2).all()
    assert changes[-1] < 1e-2


@pytest.fixture
def noise(rng):
    return rng.random((400, 12)), rng.integers(0, 2, (400, 3)).astype(float)


def noisy(Y, rng, share=0.1):
    return np.abs(Y - (rng.random(Y.shape) < share))


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_noisy_copies_of_the_labels_are_on_top(noise, rng, fit_intercept):
    X, Y = noise
    X[:, [2, 5, 7]] = noisy(Y, rng)
    assert set(order(X, Y, fit_intercept=fit_intercept)[:3]) == {2, 5, 7}


def test_equal_features_share_their_weight(noise):
    X, Y = noise
    X[:, [3, 8]] = Y[:, [1, 1]]
    fitted = FSNM().fit(X, Y)
    assert fitted.scores_[3] == pytest.approx(fitted.scores_[8], rel=1e-9)
    assert fitted.order_[:2].tolist() == [3, 8]


def test_by_its_formula_a_constant_feature_is_an_intercept(noise):
    X, Y = noise
    X[:, 6] = 1.0
    assert order(X, np.hstack([Y, np.ones((400, 3))]))[0] == 6
    X[:, 6] = 0.0
    assert order(X, Y)[-1] == 6
    assert FSNM().fit(X, Y).scores_[6] == 0
    assert order(np.ones((400, 3)), Y) == [0, 1, 2]


def test_an_intercept_is_not_ranked_and_takes_over_from_constant_features(noise):
    X, Y = noise
    X[:, :3] = Y
    X += 1.0
    fitted = FSNM(fit_intercept=True).fit(X, Y)
    assert sorted(fitted.order_) == list(range(12))
    assert set(fitted.order_[:3]) == {0, 1, 2}


def test_empty_labels_leave_the_order_of_the_columns(noise):
    fitted = FSNM().fit(noise[0], np.zeros((400, 3)))
    assert fitted.order_.tolist() == list(range(12))
    assert_array_equal(fitted.objective_, 0.0)

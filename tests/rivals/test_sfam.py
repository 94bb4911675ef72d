"""SFAM: plain loops, the structure that is never formed, its parameters."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from fedsieve import datasets
from fedsieve.rivals import SFAM
from fedsieve.rivals.sfam import Structure
from reference.rivals.sfam_loops import self_representation, sfam_loops
from strategies import partly_labeled

WEIGHTS = st.sampled_from([0.01, 1.0, 30.0])


def fit(X, Y, labeled, **parameters):
    return SFAM(**parameters).fit(X, np.where(labeled[:, None], Y, -1))


def compare(table, **parameters):
    fitted = fit(*table, **parameters)
    W, objective = sfam_loops(*table, **parameters)
    assert_allclose(fitted.coef_, W, rtol=1e-6, atol=1e-8 * (1 + np.abs(W).max()))
    assert_allclose(fitted.objective_, objective, rtol=1e-9, atol=1e-9)


@given(partly_labeled(), WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS, st.integers(1, 25), st.integers(1, 6))
def test_it_is_that_of_plain_loops(table, alpha, beta, gamma, rho, n_neighbors, max_iter):
    weights = {"alpha": alpha, "beta": beta, "gamma": gamma, "rho": rho}
    compare(table, **weights, n_neighbors=n_neighbors, tol=0.0, max_iter=max_iter)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_emotions_is_that_of_plain_loops():
    data = datasets.load("emotions")
    table = data.X[:100, ::2], data.Y[:100], np.arange(100) % 3 == 0
    compare(table, alpha=1.0, beta=1.0, gamma=1.0, rho=1.0, n_neighbors=5, tol=1e-4, max_iter=50)


@pytest.mark.parametrize("shape", [(20, 3), (4, 9)])
@pytest.mark.parametrize("rho", [0.1, 5.0])
def test_the_structure_is_that_of_the_formula(rng, shape, rho):
    Z, A = rng.normal(size=shape), rng.random((shape[0], 5))
    S = Z @ np.linalg.inv(Z.T @ Z + rho * np.eye(shape[1])) @ Z.T
    np.fill_diagonal(S, 0.0)
    structure = Structure(Z, rho)
    assert_allclose(S, self_representation(Z, rho), atol=1e-12)
    assert_allclose(structure.missed(A), A - S @ A, atol=1e-12)
    assert structure.squares() == pytest.approx((S**2).sum())


def test_without_weight_the_structure_plays_no_part(rng):
    X, Y, labeled = rng.random((40, 5)), rng.integers(0, 2, (40, 3)), np.arange(40) < 15
    one, other, weighted = (fit(X, Y, labeled, beta=beta, rho=rho) for beta, rho in ((0, 1), (0, 9), (1, 1)))
    assert_allclose(one.scores_, other.scores_, rtol=1e-12)
    assert not np.allclose(one.scores_, weighted.scores_, rtol=1e-2)

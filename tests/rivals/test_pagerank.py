"""The rivals' PageRanks: their fixed points by a linear solve, MATLAB's stopping rule, sinks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.rivals.pagerank import matlab_pagerank, personal_pagerank


@st.composite
def graphs(draw):
    """Weighted graphs, directed, some nodes without any edge out or in."""
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0.1, 1.0)))
    np.fill_diagonal(weights, 0.0)
    return weights


@given(graphs(), st.floats(0.0, 0.95))
def test_many_sweeps_end_at_the_solution_of_the_linear_system(weights, damping):
    n = len(weights)
    degrees = weights.sum(axis=0)
    transition = np.divide(weights, degrees, out=np.full((n, n), 1 / n), where=degrees > 0)
    exact = np.linalg.solve(np.eye(n) - damping * transition, np.full(n, (1 - damping) / n))
    ranks = matlab_pagerank(weights, damping=damping, tol=1e-15, max_iter=2000)
    np.testing.assert_allclose(ranks, exact, rtol=1e-9)
    assert ranks.sum() == pytest.approx(1)


@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_tolerance_stops_at_the_first_small_change(weights, seed):
    start = np.random.default_rng(seed).random(len(weights))
    sweeps = [start]
    while len(sweeps) == 1 or np.abs(sweeps[-1] - sweeps[-2]).max() > 1e-4:
        sweeps.append(matlab_pagerank(weights, sweeps[-1], max_iter=1))
    np.testing.assert_array_equal(matlab_pagerank(weights, start), sweeps[-1])


def test_sweeps_run_out():
    weights = np.array([[0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(matlab_pagerank(weights, max_iter=1), [0.85 * (0.5 + 0.25) + 0.075, 0.85 * 0.25 + 0.075])


def test_weights_count_only_relative_to_each_other(rng):
    weights = rng.random((6, 6)) * (1 - np.eye(6))
    np.testing.assert_allclose(matlab_pagerank(2 * weights), matlab_pagerank(weights), rtol=1e-14)


def test_a_start_is_left_as_it_was():
    start = np.array([0.2, 0.8])
    matlab_pagerank(np.ones((2, 2)) - np.eye(2), start)
    np.testing.assert_array_equal(start, [0.2, 0.8])


@given(st.integers(3, 9), st.integers(0, 2**32 - 1))
def test_the_personal_pagerank_solves_its_equation(n_features, seed):
    rng = np.random.default_rng(seed)
    edges, weights = np.where(rng.random((n_features, n_features)) < 0.5, rng.random((n_features, n_features)), 0), 0.1
    weights = rng.random(n_features) + weights
    degrees = edges.sum(axis=0)
    shares = edges / np.where(degrees > 0, degrees, 1.0)
    exact = np.linalg.solve(np.eye(n_features) - 0.85 * shares, 0.15 * weights)
    found = personal_pagerank(edges, weights, damping=0.85, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(found, exact, rtol=1e-9)

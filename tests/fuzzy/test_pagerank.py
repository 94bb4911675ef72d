"""Weighted PageRank, Equation 13: against the dense linear solution, and how it stops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import fuzzy
from fedsieve.errors import ConvergenceError, DataError, ParameterError
from fedsieve.fuzzy.graph import pagerank_steps
from reference import fuzzy_loops

# A path with uneven edges and a vertex apart: the start is not the answer, and not proportional to it.
PATH = np.array([[0, 4, 0, 0], [4, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0.0]])
WEIGHTS = np.array([1.0, 2.0, 6.0, 3.0])


@st.composite
def graphs(draw, *, isolated=True):
    n = draw(st.integers(2, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    D = rng.random((n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.4, 1.0])))
    D = D + D.T
    if isolated:
        alone = rng.random(n) < 0.2
        D[alone], D[:, alone] = 0, 0
    else:  # a ring holds all together
        D += np.eye(n)[np.arange(1, n + 1) % n] + np.eye(n)[np.arange(-1, n - 1) % n]
    np.fill_diagonal(D, rng.random(n))  # loops, to be ignored
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.random(n))
    return D, weights


@given(graphs(), st.sampled_from([0.0, 0.3, 0.85, 0.95]))
def test_pagerank_is_the_dense_linear_solution(graph, damping):
    D, weights = graph
    ranked = fuzzy.weighted_pagerank(D, weights, damping, tol=1e-14, max_iter=2000)
    assert_allclose(ranked.scores, fuzzy_loops.pagerank_solution(D, weights, damping), rtol=1e-11, atol=1e-13)


@given(graphs())
def test_the_default_tolerance_leaves_an_error_of_a_few_billionths(graph):
    D, weights = graph
    ranked = fuzzy.weighted_pagerank(D, weights)
    assert ranked.residual <= 1e-9
    error = np.abs(ranked.scores - fuzzy_loops.pagerank_solution(D, weights)).sum()
    assert error <= 0.85 / 0.15 * 1e-9 * ranked.scores.sum() + 1e-14  # a contraction by 0.85


def test_the_start_is_not_the_answer():
    ranked = fuzzy.weighted_pagerank(PATH, WEIGHTS)
    assert ranked.n_iter > 10
    assert np.abs(ranked.scores / ranked.scores.sum() - WEIGHTS / WEIGHTS.sum()).max() > 0.1
    assert_allclose(ranked.scores, fuzzy_loops.pagerank_solution(PATH, WEIGHTS), rtol=1e-8)


def test_a_vertex_gives_to_its_neighbors_in_proportion_to_their_edges():
    # By hand, damping 1/2: G0 = 1/2 + 2/5 G1, G1 = 1 + 1/2 G0 + 1/2 G2, G2 = 3 + 1/10 G1.
    G1 = (1 + 1 / 4 + 3 / 2) / (1 - 1 / 5 - 1 / 20)
    expected = [1 / 2 + 2 / 5 * G1, G1, 3 + G1 / 10, 3 / 2]
    assert_allclose(fuzzy.weighted_pagerank(PATH, WEIGHTS, 0.5, tol=1e-14).scores, expected, rtol=1e-12)


@given(graphs(isolated=False))
def test_scores_add_up_to_the_weights_when_no_vertex_is_isolated(graph):
    D, weights = graph
    assert_allclose(fuzzy.weighted_pagerank(D, weights).scores.sum(), weights.sum(), rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.99])
def test_an_isolated_vertex_keeps_its_share_of_the_weight(damping):
    ranked = fuzzy.weighted_pagerank(PATH, WEIGHTS, damping, max_iter=5000)
    assert ranked.scores[3] == (1 - damping) * WEIGHTS[3]
    assert_allclose(ranked.scores[:3].sum(), WEIGHTS[:3].sum(), rtol=1e-6)


def test_rounding_in_products_does_not_reach_an_isolated_vertex():
    def product(vector):
        assert vector[2] == 0  # nor does the vertex send anything
        return np.array([vector[1], vector[0], 0.25])

    steps = pagerank_steps([1.0, 1.0, 1.0], [1.0, 1.0, 0.0], 0.5, tol=1e-9, max_iter=50)
    vector, ranked = next(steps), None
    while ranked is None:
        try:
            vector = steps.send(product(vector))
        except StopIteration as finished:
            ranked = finished.value
    assert_array_equal(ranked.scores, [1, 1, 0.5])


def test_without_weights_there_is_nothing_to_rank():
    ranked = fuzzy.weighted_pagerank(PATH, np.zeros(4))
    assert_array_equal(ranked.scores, 0)
    assert (ranked.n_iter, ranked.residual) == (1, 0.0)


def test_without_edges_every_vertex_keeps_its_share():
    assert_array_equal(fuzzy.weighted_pagerank(np.eye(4), WEIGHTS, 0.75).scores, 0.25 * WEIGHTS)


@given(graphs(), st.randoms(use_true_random=False))
def test_scores_follow_a_permutation_of_the_vertices(graph, random):
    D, weights = graph
    order = random.sample(range(len(D)), len(D))
    moved = fuzzy.weighted_pagerank(D[np.ix_(order, order)], weights[order], tol=1e-13).scores
    assert_allclose(moved, fuzzy.weighted_pagerank(D, weights, tol=1e-13).scores[order], rtol=1e-10, atol=1e-13)


def test_iterations_and_residual_are_those_of_the_last_step():
    steps = []
    for n_iter in range(1, 6):  # tol=0 never holds here, so each run stops where the budget does
        with pytest.raises(ConvergenceError) as stopped:
            fuzzy.weighted_pagerank(PATH, WEIGHTS, tol=0, max_iter=n_iter)
        steps.append(float(str(stopped.value).split("relative change ")[1].split()[0]))
    tol = (steps[3] + steps[2]) / 2  # met by the fourth step and no earlier one
    ranked = fuzzy.weighted_pagerank(PATH, WEIGHTS, tol=tol)
    assert ranked.n_iter == 4
    assert_allclose(ranked.residual, steps[3], rtol=0.05)  # the message has two digits


def test_the_residual_is_the_relative_change_by_hand():
    # Two vertices, damping 1/2, weights 4 and 0: scores 4, 0 -> 2, 2 -> 3, 1.
    edges = [[0, 1], [1, 0]]
    ranked = fuzzy.weighted_pagerank(edges, [4.0, 0.0], 0.5, tol=0.5)
    assert (ranked.n_iter, ranked.residual) == (2, 0.5)  # |1| + |-1| of 4; the tolerance itself is enough
    assert_array_equal(ranked.scores, [3, 1])


def test_too_few_iterations_are_an_error_that_says_what_to_do():
    message = r"PageRank: relative change [\d.e-]+ after 3 iterations, above tol=1e-09\. Raise max_iter or tol\."
    with pytest.raises(ConvergenceError, match=message):
        fuzzy.weighted_pagerank(PATH, WEIGHTS, max_iter=3)


@pytest.mark.parametrize("damping", [-0.1, 1.0, 1.5, np.nan])
def test_damping_must_leave_something_to_the_weights(damping):
    with pytest.raises(ParameterError, match=rf"PageRank: damping must be in \[0, 1\); got {damping}"):
        fuzzy.weighted_pagerank(PATH, WEIGHTS, damping)


def test_no_damping_returns_the_weights():
    assert_array_equal(fuzzy.weighted_pagerank(PATH, WEIGHTS, 0.0).scores, WEIGHTS)


def test_the_arguments_are_left_alone():
    D, weights = PATH + np.eye(4), WEIGHTS.copy()
    fuzzy.weighted_pagerank(D, weights)
    assert_array_equal(D, PATH + np.eye(4))
    assert_array_equal(weights, WEIGHTS)


@pytest.mark.parametrize(
    ("D", "weights", "message"),
    [
        (np.ones((2, 3)), [1, 1], r"fuzzy\.weighted_pagerank: need one row and one column .*got shape \(2, 3\)"),
        ([[0, -1], [-1, 0]], [1, 1], r"fuzzy\.weighted_pagerank: edge weights must be finite and at least 0"),
        ([[0, np.nan], [1, 0]], [1, 1], "finite and at least 0"),
        ([[0, np.inf], [np.inf, 0]], [1, 1], "finite and at least 0"),
        (PATH, [1, 1], r"PageRank: one weight per vertex; got \(2,\) weights for \(4,\) vertices"),
        (PATH, np.ones((4, 1)), r"got \(4, 1\) weights for \(4,\) vertices"),
    ],
)
def test_bad_graphs_are_refused(D, weights, message):
    with pytest.raises(DataError, match=message):
        fuzzy.weighted_pagerank(D, weights)

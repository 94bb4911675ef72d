"""Row-sparse regression: both ways to solve it against the plain formula, the smoothed length, the stopping rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.ordering import ranked
from fedsieve.rivals.row_sparse import (
    EPSILON,
    RowSparseRegression,
    lengths,
    reweighted,
    ridge_inverse,
    settled,
    shared_by_copies,
    smoothed,
)

SHAPES = [(30, 7), (7, 30), (12, 12), (2, 1), (2, 9)]


def random_problem(rng, shape, n_labels=3):
    X = rng.random(shape)
    return X - X.mean(axis=0), rng.random((shape[0], n_labels)), rng.random(shape[1]) + 1e-3


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weight", [1e-2, 1.0, 1e3])
def test_it_solves_the_normal_equations(rng, shape, weight):
    X, F, t = random_problem(rng, shape)
    regression = RowSparseRegression(X)
    W = regression.solve(regression.target(F), t, weight)
    assert_allclose(W, np.linalg.solve(X.T @ X + weight * np.diag(1 / t), X.T @ F), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_solves_them_with_other_rows_in_place_of_the_first(rng, shape):
    X, F, t = random_problem(rng, shape)
    root = rng.random((shape[0], shape[0]))
    U = root @ root.T @ X
    regression = RowSparseRegression(X, U)
    W = regression.solve(regression.target(F), t, 0.5)
    assert_allclose(W, np.linalg.solve(X.T @ U + 0.5 * np.diag(1 / t), X.T @ F), rtol=1e-8, atol=1e-11)
    explained = 2 * np.trace(W.T @ X.T @ F) - np.trace(W.T @ X.T @ U @ W)
    assert regression.explained(W, regression.target(F)) == pytest.approx(explained, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_explained_is_what_the_squares_fall_by(rng, shape):
    X, F, _ = random_problem(rng, shape)
    regression, W = RowSparseRegression(X), rng.normal(size=(shape[1], 3))
    centered = F - F.mean(axis=0)
    fall = (centered**2).sum() - ((X @ W - centered) ** 2).sum()
    assert regression.explained(W, regression.target(F)) == pytest.approx(fall, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_features_without_weight_get_no_coefficients(rng, shape):
    """Where the plain formula would divide by 0."""
    X, F, t = random_problem(rng, shape)
    t[0] = 0.0
    regression = RowSparseRegression(X)
    W = regression.solve(regression.target(F), t, 1.0)
    assert_array_equal(W[0], 0.0)
    others = RowSparseRegression(X[:, 1:])
    assert_allclose(W[1:], others.solve(others.target(F), t[1:], 1.0), atol=1e-12)


@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (2, 9)])
def test_an_offset_of_the_labels_changes_nothing(rng, shape):
    X, F, t = random_problem(rng, shape)
    regression = RowSparseRegression(X)
    there, here = (regression.solve(regression.target(F + offset), t, 1e-9) for offset in (7.0, 0.0))
    assert_allclose(there, here, atol=1e-11)


def test_nothing_is_as_large_as_the_square_of_many_features(rng):
    assert RowSparseRegression(rng.random((3, 5))).gram is None


def test_the_inverse_of_nothing_is_nothing():
    assert ridge_inverse(np.zeros((0, 0)), 1.0)(np.zeros((0, 3))).shape == (0, 3)


@given(st.floats(0, 1e3), st.floats(0, 1e3), st.sampled_from([1.0, 1e-3, 1e-6]))
def test_the_weighted_squares_lie_above_the_smoothed_length_and_touch_it(a, b, factor):
    """So a step that lowers the weighted squares lowers the objective; this does not hold for plain lengths."""
    both = factor * np.array([a, b])
    here, there = smoothed(both)
    bound = here + (both[1] ** 2 - both[0] ** 2) / reweighted(both)[0]
    assert there <= bound + 1e-12 * (1 + abs(bound))
    assert -1e-18 <= here <= both[0]


def test_lengths_and_weights_of_rows():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert_array_equal(lengths(rows), [5.0, 0.0])
    assert_array_equal(reweighted(lengths(rows)), [10.0 + EPSILON, EPSILON])


def test_the_change_is_a_share_of_the_earlier_objective():
    assert settled([5.0, 4.0], 0.22)
    assert not settled([4.0, 5.0], 0.22)


def test_an_objective_of_0_has_settled_if_anything_has():
    assert settled([0.0, 0.0], 1e-9)
    assert not settled([0.0, 0.0], 0.0)
    assert not settled([0.0, 1e-300], 1e-9)


def test_copies_share_a_score_wherever_rounding_would_part_them():
    X = np.array([[0.0, -0.0, 0.5, 0.1], [0.3, 0.1 + 0.2, 0.5, 0.9], [1.0, 1.0, 0.5, 0.3]])
    edge = 0.39327348410500  # halfway between two scores that differ in order
    scores = np.array([edge - 1e-12, edge + 1e-12, 0.1, 0.2])
    assert ranked(scores).tolist() == [1, 0, 3, 2]
    shared = shared_by_copies(scores, X)
    assert ranked(shared).tolist() == [0, 1, 3, 2]
    assert shared.sum() == pytest.approx(scores.sum())
    assert_array_equal(shared[2:], scores[2:])


def test_columns_that_differ_keep_their_scores(rng):
    X, scores = rng.integers(0, 2, (12, 9)) + 1e-6 * np.arange(9), rng.random(9)
    assert_array_equal(shared_by_copies(scores, X), scores)

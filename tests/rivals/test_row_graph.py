"""Graphs of rows against plain loops: ties, duplicates, few rows; soft labels that neighbors share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.rivals.row_graph import NeighborlyLabels, binary_laplacian, blocks, probabilistic_laplacian, roughness
from reference.rivals.row_graph_loops import adaptive_laplacian, squared_distances
from reference.rivals.row_graph_loops import binary_laplacian as binary_laplacian_loops
from strategies import partly_labeled


@given(partly_labeled(), st.integers(1, 25))
def test_laplacians_are_those_of_plain_loops(table, n_neighbors):
    rows = table[0]
    distances = squared_distances(rows)
    assert_array_equal(binary_laplacian(rows, n_neighbors).toarray(), binary_laplacian_loops(distances, n_neighbors))
    expected = adaptive_laplacian(distances, n_neighbors)
    assert_allclose(probabilistic_laplacian(rows, n_neighbors).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("laplacian", [binary_laplacian, probabilistic_laplacian])
def test_laplacians_are_symmetric_and_blind_to_constants(rng, laplacian):
    lap = laplacian(rng.random((30, 4)), 3)
    assert_allclose(lap.toarray(), lap.toarray().T, atol=1e-15)
    assert_allclose(lap @ np.ones(30), 0.0, atol=1e-14)
    assert np.linalg.eigvalsh(lap.toarray()).min() > -1e-12


def test_farther_neighbors_are_less_probable_by_hand():
    """Squared distances: 1, 4, 16 from the first row; 1, 1, 9; 1, 4, 4, of which the first counts; 4, 9, 16."""
    S = np.array(
        [
            [0, (16 - 1) / (32 - 5), (16 - 4) / (32 - 5), 0],
            [(9 - 1) / (18 - 2), 0, (9 - 1) / (18 - 2), 0],
            [(4 - 4) / (8 - 5), (4 - 1) / (8 - 5), 0, 0],
            [0, (16 - 9) / (32 - 13), (16 - 4) / (32 - 13), 0],
        ]
    )
    A = (S + S.T) / 2
    lap = probabilistic_laplacian(np.array([[0.0], [1.0], [2.0], [4.0]]), 2)
    assert_allclose(lap.toarray(), np.diag(A.sum(axis=1)) - A, atol=1e-15)


def test_equal_rows_share_evenly():
    assert_allclose(-probabilistic_laplacian(np.ones((4, 2)), 2).toarray()[3], [0.25, 0.25, 0.0, -0.5])


def test_blocks_are_taken_from_the_unlabeled_rows(rng):
    lap, labeled = binary_laplacian(rng.random((9, 2)), 3), rng.random(9) < 0.5
    among, to_labeled = blocks(lap, labeled)
    assert_array_equal(among, lap.toarray()[np.ix_(~labeled, ~labeled)])
    assert_array_equal(to_labeled.toarray(), lap.toarray()[np.ix_(~labeled, labeled)])


def test_roughness_adds_up_the_differences_of_neighbors():
    lap = binary_laplacian(np.array([[0.0], [1.0], [3.0]]), 1)
    assert roughness(lap, np.array([[0.0, 1.0], [1.0, 1.0], [4.0, 0.0]])) == 1 + 9 + 1


@pytest.mark.parametrize("alpha", [0.0, 1.0, 100.0])
def test_no_other_labels_are_closer_to_predictions_and_neighbors(rng, alpha):
    X, Y = rng.random((20, 3)), rng.integers(0, 2, (20, 2)).astype(float)
    labeled, laplacian = np.arange(20) < 8, binary_laplacian(X, 4)
    W, b = 0.1 * rng.random((3, 2)), np.array([0.3, 0.4])
    F = Y.copy()
    F[~labeled] = NeighborlyLabels(X, Y, labeled, laplacian, alpha).predict(W, b)
    assert 0 < F[~labeled].min() <= F[~labeled].max() < 1  # so that the limits play no part

    def value(F):
        return ((X @ W + b - F)[~labeled] ** 2).sum() + alpha * np.trace(F.T @ laplacian.toarray() @ F)

    for size in (1e-4, 1e-2, 1.0):
        step = np.where(labeled[:, None], 0.0, size * rng.normal(size=F.shape))
        assert value(F + step) > value(F)

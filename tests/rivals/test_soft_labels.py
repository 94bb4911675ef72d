"""Soft labels: the nearest point of the simplex, and labels that follow a regression and their neighbors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from fedsieve.rivals.row_graph import binary_laplacian
from fedsieve.rivals.soft_labels import NeighborlyLabels, in_box, on_simplex
from reference.rivals.rlsr_loops import onto_simplex


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

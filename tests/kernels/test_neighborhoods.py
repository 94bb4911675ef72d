"""Neighborhoods in a growing set of features against whole matrices of distances; margins between labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.kernels.margins import margin_radii
from fedsieve.kernels.neighborhoods import Neighborhoods, agreements, packed
from strategies import tables


@st.composite
def growing(draw):
    """A table, all 0/1 or not, labels, radii, and the features that are in already."""
    X = draw(tables(max_rows=80, max_features=70))
    if draw(st.booleans()):
        X = np.round(X)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = (rng.random((len(X), draw(st.integers(1, 70)))) < draw(st.sampled_from([0.05, 0.5]))).astype(float)
    radii = rng.choice([0.0, 0.15, 0.5, 1.0, np.sqrt(2), 1.7], len(X))
    return X, Y, radii, rng.permutation(X.shape[1])[: draw(st.integers(0, 3))]


def grown(X, radii, features):
    near = Neighborhoods(X, radii)
    for feature in features:
        near.add(feature)
    return near


def by_matrix(X, radii, features):
    differences = X[:, None, features] - X[None, :, features]
    return np.sqrt((differences**2).sum(axis=2)) <= radii[:, None] + 1e-9


@given(growing())
def test_neighbors_are_those_of_the_whole_matrix_of_distances(case):
    X, Y, radii, features = case
    near, inside = grown(X, radii, features), Y.sum(axis=1)[:, None] <= Y @ Y.T  # not symmetric
    others = np.setdiff1d(np.arange(X.shape[1]), features)
    total, within = near.counts(inside, others)
    for column, f in enumerate(others):
        matrix = by_matrix(X, radii, [*features, f])
        assert_array_equal(total[:, column], matrix.sum(axis=1))
        assert_array_equal(within[:, column], (matrix & inside).sum(axis=1))


@given(growing())
def test_agreements_are_those_of_the_whole_matrix_of_distances(case):
    X, Y, radii, features = case
    near = grown(X, radii, features)
    others = np.setdiff1d(np.arange(X.shape[1]), features)
    counts = agreements(near, Y, others)
    for column, f in enumerate(others):
        matrix = by_matrix(X, radii, [*features, f])
        disagree = np.stack([(matrix & (label[:, None] != label)).any(axis=1) for label in Y.T], axis=1)
        assert counts[column] == (~disagree).sum()


def test_bits_lie_in_words_lowest_first():
    table = np.zeros((2, 70))
    table[0, [0, 3, 69]] = 1
    assert packed(table).tolist() == [[9, 32], [0, 0]]


def test_margins_leave_out_labels_without_hits_or_misses():
    X = np.array([[0.0], [0.2], [1.0]])
    Y = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    # Label 0: rows 0 and 1 are hits of each other, row 2 has none. Label 1 has no misses. Label 2: rows 0 and 2.
    assert_allclose(margin_radii(X, Y), [max(0, (1.0 - 0.2 + 0.2 - 1.0) / 2), 0.8 - 0.2, 0.0], atol=1e-12)
    assert margin_radii(X, np.ones((3, 2))).tolist() == [0, 0, 0]

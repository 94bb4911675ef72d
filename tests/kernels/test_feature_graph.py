"""The feature graph of GRMFS: its edges by the formulas, by either route, and on any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.fuzzy.relation import relation
from fedsieve.kernels import feature_graph
from fedsieve.kernels.feature_graph import edge_weights
from strategies import KINDS, tables


def by_the_formulas(X, decisions, radius, kind):
    """ASS + INT - RED written out over materialized relations."""
    n, d = X.shape
    R = [relation(X[:, f], radius[f], kind) for f in range(d)]
    D = 1 - np.abs(decisions[:, None, :] - decisions[None, :, :]).max(axis=2)
    size = lambda *relations: np.minimum.reduce(relations).sum(axis=1)  # noqa: E731
    edges = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            if i != j:
                ij, ijD = size(R[i], R[j]), size(R[i], R[j], D)
                association = -np.log2(ij * size(D) / (n * ijD)).mean()
                interaction = -np.log2(ij * size(R[i], D) / (ijD * size(R[i]))).mean()
                redundancy = -np.log2(size(R[i]) * size(R[j]) / (n * ij)).mean()
                edges[i, j] = association + interaction - redundancy
    return edges


@st.composite
def soft_labels(draw, n_rows):
    """Labels in [0, 1], hard or soft, with equal rows among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([1, 2, 3, 1000]))
    rows = rng.integers(0, levels + 1, (draw(st.integers(1, n_rows)), draw(st.integers(1, 4)))) / levels
    return rows[rng.integers(0, len(rows), n_rows)]


@given(X=tables(max_features=7), kind=st.sampled_from(KINDS), binary=st.booleans(), data=st.data())
def test_edges_follow_the_formulas(X, kind, binary, data):
    X = (X > 0.5).astype(float) if binary else X
    decisions = data.draw(soft_labels(len(X)))
    radius = X.std(axis=0, ddof=1) / 1.2
    edges = edge_weights(X, decisions, radius, kind)
    assert_allclose(edges, by_the_formulas(X, decisions, radius, kind), atol=1e-10)


@pytest.mark.parametrize("n_rows", [5, 600])  # 600 rows take more than one strip
@pytest.mark.parametrize("kind", KINDS)
def test_counting_and_comparing_give_the_same_edges_of_two_valued_features(kind, n_rows):
    rng = np.random.default_rng(n_rows)
    X = (rng.random((n_rows, 6)) < 0.3).astype(float)
    decisions = np.round(rng.random((n_rows, 2)) * 3) / 3
    counted = edge_weights(X, decisions, np.full(6, 0.4), kind)
    compared = edge_weights(np.column_stack([X, rng.random(n_rows)]), decisions, np.full(7, 0.4), kind)
    assert_allclose(counted, compared[:6, :6], atol=1e-12)


@pytest.mark.parametrize("binary", [False, True])
def test_threads_do_not_change_a_bit(binary):
    rng = np.random.default_rng(1)
    X, decisions = rng.random((150, 9)), rng.random((150, 2)).round(1)
    X = X.round() if binary else X
    one, three = (edge_weights(X, decisions, np.full(9, 0.3), "distance", n_threads) for n_threads in (1, 3))
    assert_array_equal(one, three)


@pytest.mark.parametrize("binary", [False, True])
def test_copies_have_equal_edges_and_what_they_cannot_tell_of_each_other_counts_against_them(binary):
    rng = np.random.default_rng(2)
    X, Y = rng.random((60, 4)), rng.integers(0, 2, (60, 2)).astype(float)
    X = X.round() if binary else X
    X = np.column_stack([X, X[:, 1]])
    edges = edge_weights(X, Y, X.std(axis=0) / 1.2, "distance")
    others = [0, 2, 3]
    assert_allclose(edges[others, 1], edges[others, 4], atol=1e-12)
    assert_allclose(edges[1, others], edges[4, others], atol=1e-12)
    assert edges[1, 4] == edges[4, 1] < -0.1  # - H(f | D)


def test_a_constant_feature_adds_nothing_to_another_one():
    rng = np.random.default_rng(3)
    X, Y = np.column_stack([rng.random(50), np.zeros(50)]), np.eye(3)[rng.integers(0, 3, 50)]
    edges = edge_weights(X, Y, X.std(axis=0), "distance")
    informed = edges[0, 1]  # I(f; D), and INT = RED = 0
    assert informed > 0
    assert edges[1, 0] == pytest.approx(2 * informed)  # INT adds I(f; D) again


def test_a_task_of_rows_cannot_overflow():
    largest = float(1 << 22) ** feature_graph.ROWS  # the row sums that fit the fixed point
    assert np.isfinite(largest)


def test_labels_shared_by_nobody_leave_the_features_relations():
    X, decisions = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), np.eye(3)
    # |[x]_D| = 1: ASS = H(ij), INT = H(j | i) and RED = I(i; j), all by counting three rows
    h, h_joint = np.log2(3) - 2 / 3, np.log2(3)
    assert_allclose(
        edge_weights(X, decisions, np.full(2, 0.4), "distance")[0, 1], h_joint + (h_joint - h) - (2 * h - h_joint)
    )

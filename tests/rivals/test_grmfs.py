"""GRMFS: cases with a known outcome, its edges, and the slow twin."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import MLkNN, datasets, metrics
from fedsieve.rivals.grmfs import GRMFS, MODES, positive_edges
from fedsieve.values import dense
from reference.rivals import grmfs_loops
from strategies import tables

modes = pytest.mark.parametrize("mode", MODES)


def planted(kind, seed, n_rows=120):
    """Nine features of noise, then one per label that nearly is that label."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (n_rows, 3))
    if kind == "continuous":
        return np.hstack([rng.random((n_rows, 9)), Y + rng.normal(0, 0.1, Y.shape)]), Y
    noise, copies = rng.random((n_rows, 9)) < 0.3, np.where(rng.random(Y.shape) < 0.05, 1 - Y, Y)
    return np.hstack([noise, copies]).astype(float), Y


@modes
@pytest.mark.parametrize("kind", ["continuous", "0/1"])
@pytest.mark.parametrize("seed", range(3))
def test_noisy_copies_of_the_labels_end_on_top(mode, kind, seed):
    X, Y = planted(kind, seed)
    assert set(GRMFS(mode=mode).fit(X, Y).order_[:3]) == {9, 10, 11}


@modes
def test_a_feature_identical_to_a_label_beats_noise(mode):
    rng = np.random.default_rng(4)
    X, Y = rng.random((90, 6)), rng.integers(0, 2, (90, 2))
    X[:, 3] = Y[:, 0]
    assert GRMFS(mode=mode).fit(X, Y).order_[0] == 3


def test_a_constant_feature_weighs_nothing_by_itself_and_copies_tie_in_index_order():
    rng = np.random.default_rng(5)
    X, Y = rng.random((60, 5)), rng.integers(0, 2, (60, 3))
    X[:, 1] = 7.0
    X = np.column_stack([X, 3 * X[:, 2] - 1])
    for mode in MODES:
        ranked = GRMFS(mode=mode).fit(X, Y)
        assert sorted(ranked.order_) == list(range(6))
        assert ranked.scores_[5] == pytest.approx(ranked.scores_[2], rel=1e-12)
        assert ranked.ranking_[5] == ranked.ranking_[2] + 1
    alone = GRMFS(damping=0.0).fit(X, Y)  # no graph: the features' own weights
    assert alone.scores_[1] == 0
    assert alone.order_[-1] == 1


@modes
@pytest.mark.parametrize("n_labels", [1, 9])
@pytest.mark.parametrize("binary", [False, True])
def test_one_label_and_more_labels_than_features(mode, n_labels, binary):
    rng = np.random.default_rng(n_labels)
    X, Y = rng.random((50, 4)), rng.integers(0, 2, (50, n_labels))
    X = X.round() if binary else X
    Y[:, 0] = X[:, 2] > 0.5
    ranked = GRMFS(mode=mode).fit(X, Y[:, 0] if n_labels == 1 else Y)
    assert sorted(ranked.order_) == list(range(4))
    if n_labels == 1 and (mode == "paper" or binary):  # similarity thresholds blur a split at the middle of a range
        assert ranked.order_[0] == 2


@modes
@pytest.mark.parametrize(
    ("X", "Y"),
    [
        (np.zeros((4, 3)), np.eye(2)[[0, 1, 0, 1]]),  # nothing varies
        (np.arange(12.0).reshape(4, 3) % 5, np.ones((4, 2))),  # one label row for all
        (np.array([[0.0], [1.0]]), np.eye(2)),  # a single feature, fewer rows than neighbors
    ],
)
def test_poor_tables_are_ranked_all_the_same(mode, X, Y):
    ranked = GRMFS(mode=mode).fit(X, Y)
    assert sorted(ranked.order_) == list(range(X.shape[1]))
    assert np.isfinite(ranked.scores_).all()


def test_where_rows_are_few_the_weight_is_still_divided_by_n_neighbors():
    X, Y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.ones((3, 2))
    wide, all_there = (GRMFS(damping=0.0, n_neighbors=k).fit(X, Y).scores_ for k in (4, 2))
    assert_allclose(2 * wide, all_there)
    assert_allclose(all_there, [4 / 6, 4 / 6])


@modes
@pytest.mark.parametrize("kind", ["continuous", "0/1"])
def test_permuted_features_permute_the_ranking(mode, kind):
    X, Y = planted(kind, 6)
    shuffle = np.random.default_rng(6).permutation(X.shape[1])
    assert_array_equal(shuffle[GRMFS(mode=mode).fit(X[:, shuffle], Y).order_], GRMFS(mode=mode).fit(X, Y).order_)


def test_the_modes_relate_rows_differently_and_0_1_features_do_not_mind():
    X, Y = planted("continuous", 7)
    paper, code = (GRMFS(mode=mode, damping=0.0, tol=1.0, max_iter=1) for mode in MODES)
    assert len(set(paper.fit(X, Y).scores_)) == X.shape[1]
    assert len(set(code.fit(X, Y).scores_)) == 1  # without edges only the uniform teleport is left
    with_distance, with_similarity = (GRMFS(mode=mode).fit(X, Y).order_ for mode in MODES)
    assert list(with_distance) != list(with_similarity)


def test_edges_are_scaled_only_if_a_column_has_no_positive_one():
    weights = np.array([[0.0, 2.0, -4.0], [3.0, 0.0, -2.0], [1.0, 2.0, 0.0]])
    # column by column to [0, 1], the diagonal taking part; then the diagonal is 0 again
    scaled = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [1 / 3, 1.0, 0.0]])
    assert_allclose(positive_edges(weights), scaled / scaled.sum(axis=0))


def test_a_column_with_a_negative_sum_keeps_its_negative_edges():
    weights = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, -3.0], [1.0, -1e-13, 0.0]])
    assert_allclose(positive_edges(weights), [[0.0, 1.0, 0.0], [0.5, 0.0, 1.5], [0.5, 0.0, 0.0]])


def test_a_column_whose_entries_cancel_is_left_as_it_is():
    weights = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
    assert_allclose(positive_edges(weights)[:, 2], [1.0, 0.0, 0.0])


@given(
    X=tables(max_features=8),
    binary=st.booleans(),
    mode=st.sampled_from(MODES),
    n_labels=st.integers(2, 4),
    lam=st.sampled_from([0.5, 1.2, 2.0]),
    n_neighbors=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_order_is_that_of_the_slow_twin(X, binary, mode, n_labels, lam, n_neighbors, seed):
    X = (X > 0.5).astype(float) if binary else X
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    parameters = {"mode": mode, "lam": lam, "n_neighbors": n_neighbors}
    assert list(GRMFS(**parameters).fit(X, Y).order_) == list(grmfs_loops.order(X, Y, **parameters))


@modes
@given(X=tables(max_features=5), seed=st.integers(0, 2**32 - 1))
def test_classes_are_ranked_as_by_the_slow_twin(mode, X, seed):
    y = np.random.default_rng(seed).integers(0, 3, len(X))
    one_hot = (y[:, None] == np.unique(y)[None, :]).astype(float)
    assert list(GRMFS(mode=mode).fit(X, y).order_) == list(grmfs_loops.order(X, one_hot, mode=mode))


@modes
@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_emotions_are_ranked_as_by_the_slow_twin(mode):
    data = datasets.load("emotions")
    X, Y = dense(data.X)[:120, ::3], dense(data.Y)[:120]  # the loops take a minute for all columns
    assert list(GRMFS(mode=mode).fit(X, Y).order_) == list(grmfs_loops.order(X, Y, mode=mode))


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
def test_the_best_of_emotions_predict_as_measured_with_another_implementation_of_the_published_code():
    data = datasets.load("emotions")
    X, Y, queries, truth = data.X[data.train], data.Y[data.train], data.X[data.test], data.Y[data.test]
    best = GRMFS(28, mode="code").fit(X, Y).get_support()
    found = MLkNN(n_neighbors=10, smoothing=1.0).fit(X[:, best], Y).predict_proba(queries[:, best])
    assert metrics.average_precision(truth, found) == pytest.approx(0.7494, abs=5e-4)
    assert metrics.coverage(truth, found) == pytest.approx(2.154, abs=2e-3)
    assert metrics.ranking_loss(truth, found) == pytest.approx(0.211, abs=1e-3)

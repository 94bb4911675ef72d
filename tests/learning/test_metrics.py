"""The metrics against loops and against scikit-learn; their bounds and laws; ties; rows with no or all labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import metrics as sk

from fedsieve import metrics
from fedsieve.errors import DataError, ParameterError
from reference import metrics_loops

RANKINGS = ("average_precision", "coverage", "ranking_loss")
CONVENTIONS = ("paper", "sklearn")
rankings, conventions = st.sampled_from(RANKINGS), st.sampled_from(CONVENTIONS)


@st.composite
def scored(draw, levels=None):
    """Labels, rows without and with all of them included, and scores with many ties or (levels=0) none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples, n_labels = draw(st.integers(2, 12)), draw(st.integers(2, 7))
    Y = (rng.random((n_samples, n_labels)) < draw(st.floats(0.1, 0.9))).astype(int)
    Y[0] = np.arange(n_labels) == rng.integers(n_labels)  # one row that can be ranked
    levels = draw(st.sampled_from([0, 2, 4])) if levels is None else levels
    distinct = rng.permuted(np.tile(np.arange(n_labels), (n_samples, 1)), axis=1)
    scores = rng.integers(0, levels, Y.shape) if levels else distinct
    return Y, (scores - 1) / 8


@given(scored(), conventions)
def test_ranking_metrics_are_those_of_the_loops(case, convention):
    for name in RANKINGS:
        expected = getattr(metrics_loops, name)(*case, convention)
        assert_allclose(getattr(metrics, name)(*case, convention), expected, rtol=1e-13, atol=1e-15)


@given(scored())
def test_the_sklearn_convention_is_scikit_learn_s(case):
    assert_allclose(metrics.average_precision(*case, "sklearn"), sk.label_ranking_average_precision_score(*case))
    assert_allclose(metrics.coverage(*case, "sklearn"), sk.coverage_error(*case) - 1, atol=1e-15)
    assert_allclose(metrics.ranking_loss(*case, "sklearn"), sk.label_ranking_loss(*case), atol=1e-15)


@given(scored())
def test_metrics_of_sets_are_those_of_the_loops_and_of_scikit_learn(case):
    Y, scores = case
    guess = (scores > 0).astype(int)
    assert_allclose(metrics.one_error(Y, scores), metrics_loops.one_error(Y, scores), atol=1e-15)
    for name in ("hamming_loss", "micro_f1", "macro_f1"):
        assert_allclose(getattr(metrics, name)(Y, guess), getattr(metrics_loops, name)(Y, guess), rtol=1e-13)
    assert_allclose(metrics.hamming_loss(Y, guess), sk.hamming_loss(Y, guess))
    assert_allclose(metrics.micro_f1(Y, guess), sk.f1_score(Y, guess, average="micro", zero_division=0))
    assert_allclose(metrics.macro_f1(Y, guess), sk.f1_score(Y, guess, average="macro", zero_division=0))


@given(scored(), conventions)
def test_bounds(case, convention):
    n_labels = case[0].shape[1]
    assert 0 < metrics.average_precision(*case, convention) <= 1
    assert -1 <= metrics.coverage(*case, convention) <= n_labels - 1
    assert 0 <= metrics.ranking_loss(*case, convention) <= 1
    assert 0 <= metrics.one_error(*case) <= 1


@given(scored(), rankings, conventions, st.integers(0, 2**32 - 1))
def test_only_the_order_of_scores_matters_and_not_that_of_rows(case, name, convention, seed):
    Y, scores = case
    metric = getattr(metrics, name)
    expected = metric(Y, scores, convention)
    assert metric(Y, np.exp(scores) * 3 - 7, convention) == expected
    assert metric(Y, scores**3 + scores, convention) == expected
    assert metrics.one_error(Y, np.exp(scores)) == metrics.one_error(Y, scores)
    order = np.random.default_rng(seed).permutation(len(Y))
    assert_allclose(metric(Y[order], scores[order], convention), expected, rtol=1e-13, atol=1e-15)


@given(scored(), st.integers(0, 2**32 - 1))
def test_scikit_learn_s_ties_do_not_know_the_order_of_labels(case, seed):
    Y, scores = case
    order = np.random.default_rng(seed).permutation(Y.shape[1])
    for name in RANKINGS:
        metric = getattr(metrics, name)
        assert_allclose(metric(Y[:, order], scores[:, order], "sklearn"), metric(Y, scores, "sklearn"), atol=1e-14)


@given(scored(levels=0))
def test_without_ties_and_rows_that_cannot_be_wrong_the_conventions_agree(case):
    Y, scores = case
    some = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    for name in RANKINGS:
        paper, scikit = (getattr(metrics, name)(Y[some], scores[some], convention) for convention in CONVENTIONS)
        assert_allclose(paper, scikit, rtol=1e-13, atol=1e-15)


@given(scored())
def test_scikit_learn_s_coverage_is_never_below_the_paper_s(case):
    assert metrics.coverage(*case, "sklearn") >= metrics.coverage(*case, "paper")


@given(scored(), conventions)
def test_a_perfect_ranking_is_perfect(case, convention):
    Y, _ = case
    assert metrics.average_precision(Y, Y - np.arange(Y.shape[1]) / 100, convention) == pytest.approx(1)
    assert metrics.ranking_loss(Y, Y, convention) == 0
    assert metrics.coverage(Y, Y, convention) == pytest.approx(Y.sum(axis=1).mean() - 1)
    assert metrics.one_error(Y, Y) == 0
    assert metrics.hamming_loss(Y, Y) == 0


def test_equal_scores_by_hand():
    # One label of three, all scores equal. paper: the later label comes first, so label 0 has rank 3, label 2 rank 1.
    level = [[0.5, 0.5, 0.5]]
    first, last = [[1, 0, 0]], [[0, 0, 1]]
    assert metrics.average_precision(first, level) == pytest.approx(1 / 3)
    assert metrics.average_precision(last, level) == 1
    assert (metrics.coverage(first, level), metrics.coverage(last, level)) == (2, 0)
    assert (metrics.one_error(first, level), metrics.one_error(last, level)) == (1, 0)
    # sklearn: all have rank 3, wherever the label is. Equal scores are wrong in both.
    for Y in (first, last):
        assert metrics.average_precision(Y, level, "sklearn") == pytest.approx(1 / 3)
        assert metrics.coverage(Y, level, "sklearn") == 2
        assert metrics.ranking_loss(Y, level) == metrics.ranking_loss(Y, level, "sklearn") == 1


def test_rows_with_no_or_all_labels_by_hand():
    Y, scores = [[0, 0], [1, 1], [0, 1]], [[0.1, 0.2], [0.1, 0.2], [0.2, 0.1]]  # the third is ranked wrongly
    assert metrics.average_precision(Y, scores) == 0.5
    assert metrics.average_precision(Y, scores, "sklearn") == pytest.approx((1 + 1 + 0.5) / 3)
    assert metrics.ranking_loss(Y, scores) == 1
    assert metrics.ranking_loss(Y, scores, "sklearn") == pytest.approx(1 / 3)
    for convention in CONVENTIONS:
        assert metrics.coverage(Y, scores, convention) == pytest.approx((0 + 2 + 2) / 3 - 1)
    assert metrics.one_error(Y, scores) == 1


def test_f1_without_anything_to_find_is_0():
    Y = np.array([[0, 1], [0, 1]])
    assert metrics.macro_f1(Y, Y) == 0.5
    assert metrics.micro_f1(Y * 0, Y * 0) == 0


def test_sparse_boolean_and_nested_lists_will_do():
    Y, scores = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.3, 0.2, 0.1], [0.5, 0.1, 0.5]])
    expected = metrics.average_precision(Y, scores)
    for labels in (sparse.csr_array(Y), Y.astype(bool), Y.astype(float), Y.tolist()):
        assert metrics.average_precision(labels, scores.tolist()) == expected
    assert metrics.hamming_loss(sparse.csr_array(Y), Y) == 0


@pytest.mark.parametrize("name", RANKINGS)
def test_bad_rankings_are_named(name):
    metric, Y = getattr(metrics, name), [[0, 1], [1, 0]]
    with pytest.raises(
        ParameterError, match=f"metrics.{name}: convention must be one of 'paper', 'sklearn'; got 'mine'"
    ):
        metric(Y, Y, convention="mine")
    with pytest.raises(DataError, match=rf"metrics.{name}: Y has shape \(2, 2\) and scores \(2, 1\)"):
        metric(Y, [[0.1], [0.2]])
    with pytest.raises(DataError, match="scores must be finite numbers; got nan"):
        metric(Y, [[0.1, np.nan], [0, 1]])
    with pytest.raises(DataError, match="Y must be 0 or 1; got -1"):
        metric(np.array([[-1, 1]]), [[0.1, 0.2]])
    with pytest.raises(DataError, match=r"not empty; got \(2,\).*1-D classes"):
        metric([0, 1], [0.1, 0.2])


@pytest.mark.parametrize("name", ["average_precision", "ranking_loss", "one_error"])
def test_a_metric_of_no_rows_is_no_number(name):
    with pytest.raises(DataError, match=f"metrics.{name}: every row of Y has no label or all of them"):
        getattr(metrics, name)([[0, 0], [1, 1]], [[0.1, 0.2], [0.1, 0.2]])


@pytest.mark.parametrize("name", ["hamming_loss", "micro_f1", "macro_f1"])
def test_scores_are_no_predictions(name):
    with pytest.raises(DataError, match=f"metrics.{name}: predictions must be 0 or 1; got .*0.7"):
        getattr(metrics, name)([[0, 1]], [[0.7, 1]])
    with pytest.raises(DataError, match=r"Y has shape \(1, 2\) and predictions \(1, 3\)"):
        getattr(metrics, name)([[0, 1]], [[0, 1, 0]])

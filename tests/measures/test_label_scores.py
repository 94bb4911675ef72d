"""A model that travels as numbers scores as the classifier it was made of; what is no model is refused."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from fedsieve import MLkNN, metrics
from fedsieve.errors import DataError, ProtocolError
from fedsieve.learning.label_models import label_model
from fedsieve.measures import label_scores
from fedsieve.measures.binned_metrics import area_under_roc, average_precision, between
from fedsieve.measures.label_ranking import row_average_precisions, row_ranking_losses

rng = np.random.default_rng(1)
X, Z = rng.normal(size=(60, 4)), rng.normal(size=(35, 4))
X[:, 3], Z[:, 3] = rng.integers(0, 3, 60), rng.integers(0, 4, 35)
Y = (np.column_stack([X[:, 0] + X[:, 1], X[:, 1] * X[:, 2], rng.normal(size=60)]) > 0.1).astype(float)
PLAIN, CODED = np.zeros(4, dtype=bool), np.array([False, False, False, True])


def scaled(rows):
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    return (rows - low) / width


@pytest.mark.parametrize("block", [1 << 22, 100])
def test_neighbors_score_as_ml_knn_does_to_the_last_bit(monkeypatch, block):
    monkeypatch.setattr(label_scores, "BLOCK_VALUES", block)
    expected = MLkNN(n_neighbors=7).fit(scaled(X), Y.astype(int)).predict_proba(scaled(Z))
    assert_array_equal(label_model("mlknn", X, Y, PLAIN, 7).scores(Z), expected)


def test_equal_distances_go_to_the_first_row():
    rows = np.repeat(np.array([[0.0], [1.0]]), 6, axis=0)
    labels = rng.integers(0, 2, (12, 2))
    expected = MLkNN(n_neighbors=3).fit(rows, labels).predict_proba(rows)
    assert_array_equal(label_model("mlknn", rows, labels.astype(float), PLAIN[:1], 3).scores(rows), expected)


def test_weights_score_as_logistic_regression_does():
    model = label_model("logistic", X, Y, PLAIN)
    for place, y in enumerate(Y.T):
        fitted = LogisticRegression(solver="newton-cholesky").fit(scaled(X), y)
        assert_allclose(model.scores(Z)[:, place], fitted.predict_proba(scaled(Z))[:, 1], rtol=1e-12)
    assert model.rows is None  # no labeled row goes with it


def test_codes_are_columns_of_their_own_and_an_unknown_code_is_none_of_them():
    model = label_model("logistic", X, Y, CODED)
    design = model.design(Z)
    assert design.shape == (35, 3 + 3)
    assert_array_equal(design[:, 3:], Z[:, [3]] == [0, 1, 2])
    assert_array_equal(design[:, :3], scaled(Z)[:, :3])


def test_missing_values_count_as_the_mean_and_missing_codes_as_the_most_frequent():
    gaps = np.full((1, 4), np.nan)
    usual = np.append(X[:, :3].mean(axis=0), np.argmax(np.bincount(X[:, 3].astype(int))))
    model = label_model("mlknn", X, Y, CODED)
    assert_array_equal(model.scores(gaps), model.scores(usual[None]))


def test_a_label_that_all_rows_have():
    model = label_model("logistic", X, np.ones((60, 1)), PLAIN)
    assert_allclose(model.scores(Z), 61 / 62)


def test_labels_that_are_unknown_are_learned_from_the_other_rows_or_refused():
    partly = Y.copy()
    partly[:20, 1] = np.nan
    model = label_model("logistic", X, partly, PLAIN)
    fitted = LogisticRegression(solver="newton-cholesky").fit(scaled(X)[20:], Y[20:, 1])
    assert_allclose(model.scores(Z)[:, 1], fitted.predict_proba(scaled(Z))[:, 1], rtol=1e-12)
    assert_array_equal(model.scores(Z)[:, 0], label_model("logistic", X, Y, PLAIN).scores(Z)[:, 0])
    with pytest.raises(DataError, match="ML-kNN needs all labels of all labeled rows; 20 rows of 60 lack some"):
        label_model("mlknn", X, partly, PLAIN)


WRONG = {
    "another kind": {"kind": "pickle"},
    "parts of both": {"weights": np.zeros((3, 4))},
    "a part is missing": {"rows": None},
    "columns that were not selected": {"owner": np.array([0, 1, 2, 9])},
    "no units": {"width": np.zeros(4)},
    "not finite": {"low": np.full(4, np.inf)},
    "other labels": {"posterior": np.zeros((2, 11))},
    "no probabilities": {"posterior": np.full((3, 11), 2.0)},
    "more neighbors than rows": {"posterior": np.full((3, 90), 0.5)},
    "labels that are none": {"has_label": np.full((60, 3), 7)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_model_of_the_selected_columns_is_refused(wrong):
    model = label_model("mlknn", X, Y, PLAIN)
    model.check(4, 3)
    with pytest.raises(ProtocolError, match="was sent a model of 4 columns and 3 labels"):
        replace(model, **WRONG[wrong]).check(4, 3)


def test_one_model_is_told_from_another():
    ways = (("mlknn", X, Y, PLAIN), ("mlknn", X, Y, PLAIN, 9), ("logistic", X, Y, PLAIN))
    models = [label_model(*how) for how in ways]
    moved = replace(models[2], intercept=models[2].intercept + 1e-12)
    assert len({model.digest() for model in (*models, moved)}) == 4
    assert models[0].digest() == label_model("mlknn", X, Y, PLAIN).digest()


def test_measures_of_rows_are_those_of_the_metrics():
    scores, truth = rng.random((60, 5)), rng.integers(0, 2, (60, 5))
    truth[:, 0], truth[:, 1] = 1, 0
    assert row_average_precisions(truth == 1, scores).mean() == pytest.approx(metrics.average_precision(truth, scores))
    assert row_ranking_losses(truth == 1, scores).mean() == pytest.approx(metrics.ranking_loss(truth, scores))


def test_measures_of_bins_are_those_of_scores_that_are_rounded_to_them():
    y, bins = rng.integers(0, 2, 200), rng.integers(0, 10, 200)
    having, without = (np.bincount(bins[y == value], minlength=10) for value in (1, 0))
    assert average_precision(without, having) == pytest.approx(average_precision_score(y, bins))
    assert area_under_roc(without, having) == pytest.approx(roc_auc_score(y, bins))


def test_a_mean_lies_between_what_its_bins_allow():
    values = rng.random(500)
    low, high = between(np.bincount((values * 50).astype(int), minlength=50))
    assert low <= values.mean() <= high
    assert high - low == pytest.approx(1 / 50)

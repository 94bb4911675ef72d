"""How a selection is judged: what each classifier is given, and that the metrics are those of its predictions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from fedsieve.datasets import load_digits
from fedsieve.experiments.classifiers import CLASSIFIERS, Classifier
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, MEASURES, Evaluation, measure, scale
from fedsieve.learning import MLkNN, metrics

DIGITS = load_digits()
TRAIN, TEST = np.arange(0, 1200), np.arange(1200, 1797)


def test_columns_are_scaled_by_the_training_rows():
    expected = MinMaxScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
    assert np.allclose(scale(DIGITS.X, TRAIN), expected, atol=1e-12)


def test_ml_knn_learns_from_the_chosen_columns_of_the_taught_rows():
    taught, columns = TRAIN[::3], np.array([40, 10, 26, 33])
    model = MLkNN(n_neighbors=10).fit(DIGITS.X[np.ix_(taught, np.sort(columns))], DIGITS.Y[taught])
    scores = model.predict_proba(DIGITS.X[np.ix_(TEST, np.sort(columns))])
    found = measure(DIGITS.X, DIGITS.Y, taught, TEST, [columns], CLASSIFIERS["ML-kNN"])
    assert found == {name: metric(DIGITS.Y[TEST], scores) for name, metric in MEASURES.items()}


def test_logistic_is_one_regression_per_label_on_columns_of_unit_deviation():
    columns = np.arange(8, 40)
    X = DIGITS.X[:, columns] / np.where(
        DIGITS.X[TRAIN][:, columns].std(axis=0) > 0, DIGITS.X[TRAIN][:, columns].std(axis=0), 1
    )
    models = [LogisticRegression(solver="newton-cholesky").fit(X[TRAIN], y) for y in DIGITS.Y[TRAIN].T]
    scores = np.column_stack([model.predict_proba(X[TEST])[:, 1] for model in models])
    found = measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, [columns], CLASSIFIERS["logistic"])
    assert found["ranking_loss"] == pytest.approx(metrics.ranking_loss(DIGITS.Y[TEST], scores), rel=1e-3)


def test_one_that_learns_slowly_judges_by_the_most_frequent_labels():
    assert DIGITS.Y[TRAIN].sum(axis=0).tolist() == [595, 479, 482, 482, 602, 480, 359, 359]
    most = [0, 2, 4]  # of two that are equally frequent the first
    few = Classifier(CLASSIFIERS["ML-kNN"].build, n_labels=3)
    columns = np.arange(20, 30)
    found = measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, [columns], few)
    assert found == measure(DIGITS.X, DIGITS.Y[:, most], TRAIN, TEST, [columns], CLASSIFIERS["ML-kNN"])


@pytest.mark.parametrize("name", ["random forest", "boosted trees"])
def test_forests_tell_labels_apart_and_always_the_same(name):
    taught, columns = TRAIN[::8], np.arange(18, 46)
    found = [measure(DIGITS.X, DIGITS.Y[:, :2], taught, TEST[::4], [columns], CLASSIFIERS[name]) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0]["ranking_loss"] < 0.25  # by chance it is a half


def test_of_a_selection_the_best_share_is_seen_and_of_all_features_all():
    columns = np.array([7, 3, 9, 1, 5])
    assert [Evaluation(share=share).seen(columns, 10).tolist() for share in (1.0, 0.5, 0.01)] == [
        [7, 3, 9, 1, 5],
        [7, 3],
        [7],
    ]
    assert Evaluation(share=0.5).seen(columns, 5) is columns


def test_several_draws_are_averaged_as_many_as_the_classifier_takes():
    draws = [np.arange(start, start + 6) for start in (3, 20, 40)]
    single = [measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, [draw], CLASSIFIERS["ML-kNN"])["coverage"] for draw in draws]
    assert len(set(single)) == 3
    for n_draws, expected in ((None, np.mean(single)), (2, np.mean(single[:2]))):
        taken = Classifier(CLASSIFIERS["ML-kNN"].build, n_draws=n_draws)
        assert measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, draws, taken)["coverage"] == pytest.approx(expected, abs=1e-12)


def test_every_metric_has_a_direction():
    assert set(MEASURES) == set(HIGHER_IS_BETTER)

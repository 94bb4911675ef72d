"""How a selection is judged: what each classifier is given, and that the metrics are those of its predictions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from fedsieve.datasets import load_digits
from fedsieve.experiments.evaluation import CLASSIFIERS, HIGHER_IS_BETTER, MEASURES, Classifier, measure, scale
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


class Watched:
    """A classifier that notes what it was given and predicts nonsense."""

    def __init__(self, given):
        self.given = given

    def fit(self, X, Y):
        self.given.append((sparse.issparse(X), X.shape))
        self.n_labels = Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile(np.linspace(0, 1, self.n_labels), (X.shape[0], 1))


@pytest.mark.parametrize(
    ("filled", "takes_sparse", "expected"), [(3, True, True), (3, False, False), (64, True, False)]
)
def test_a_table_of_few_entries_is_sparse_for_those_that_can(filled, takes_sparse, expected):
    given = []
    table = np.where(np.arange(64) < filled, DIGITS.X + 1, 0.0)
    watched = Classifier(lambda: Watched(given), takes_sparse=takes_sparse)
    measure(table, DIGITS.Y, TRAIN, TEST, [np.arange(5)], watched)
    assert given == [(expected, (1200, 5))]


def test_several_draws_are_averaged_as_many_as_the_classifier_takes():
    draws = [np.arange(start, start + 6) for start in (3, 20, 40)]
    single = [measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, [draw], CLASSIFIERS["ML-kNN"])["coverage"] for draw in draws]
    assert len(set(single)) == 3
    for n_draws, expected in ((None, np.mean(single)), (2, np.mean(single[:2]))):
        taken = Classifier(CLASSIFIERS["ML-kNN"].build, n_draws=n_draws)
        assert measure(DIGITS.X, DIGITS.Y, TRAIN, TEST, draws, taken)["coverage"] == pytest.approx(expected, abs=1e-12)


def test_every_metric_has_a_direction():
    assert set(MEASURES) == set(HIGHER_IS_BETTER)

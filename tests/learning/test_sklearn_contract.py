"""scikit-learn's own checks of MLkNN, and the habits of its users: pipelines, searches, data frames, pickling."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.metrics import label_ranking_average_precision_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import SSFMLFS, MLkNN

TEN_ROWS = "fits at most ten rows, where no row has ten others as neighbors: an error by the definition"


def expected_failed_checks(estimator):
    """Nothing fails but what needs more rows than the check has; with fewer neighbors everything passes."""
    if estimator.n_neighbors < 10:
        return {}
    return dict.fromkeys(["check_estimators_nan_inf", "check_classifiers_one_label", "check_fit2d_1feature"], TEN_ROWS)


@parametrize_with_checks([MLkNN(), MLkNN(3), MLkNN(5, smoothing=0.5)], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = pd.DataFrame(rng.normal(size=(50, 4)), columns=["age", "height", "pulse", "dose"])
    return X, (X.to_numpy()[:, :3] + rng.normal(size=(50, 3)) / 4 > 0).astype(int)


def test_it_follows_a_selector_in_a_pipeline_and_a_grid_search(data):
    X, Y = data
    model = make_pipeline(MinMaxScaler(), SSFMLFS(3), MLkNN(5))
    assert model.fit(X, Y).predict(X).shape == Y.shape
    search = GridSearchCV(model, {"mlknn__n_neighbors": [3, 5], "ssfmlfs__n_features_to_select": [2, 3]}, cv=3)
    best = search.fit(X, Y).best_estimator_
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert best["ssfmlfs"].support_.sum() == search.best_params_["ssfmlfs__n_features_to_select"]
    assert best["mlknn"].n_neighbors == search.best_params_["mlknn__n_neighbors"]
    assert best["mlknn"].n_features_in_ == best["ssfmlfs"].support_.sum()


def test_cross_validated_probabilities_have_a_column_per_label(data):
    X, Y = data
    probabilities = cross_val_predict(MLkNN(5), X, Y, cv=4, method="predict_proba")
    assert probabilities.shape == Y.shape
    assert ((probabilities >= 0.5) == Y).mean() > 0.7
    scorer = make_scorer(label_ranking_average_precision_score, response_method="predict_proba")
    assert cross_val_score(MLkNN(5), X, Y, cv=4, scoring=scorer).min() > 0.7


def test_data_frames_are_checked_by_name(data):
    X, Y = data
    model = MLkNN(3).fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    assert_array_equal(model.predict(X), MLkNN(3).fit(X.to_numpy(), Y).predict(X.to_numpy()))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["dose", "pulse", "height", "age"]])


def test_it_pickles_and_clones(data):
    X, Y = data
    model = MLkNN(3, smoothing=0.5).fit(X, Y)
    assert is_classifier(model)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == {"n_neighbors": 3, "smoothing": 0.5}


def test_new_parameters_take_effect_at_the_next_fit(data):
    X, Y = data
    model = MLkNN(3).fit(X, Y)
    expected, k = model.predict_proba(X), model.n_neighbors
    model.set_params(n_neighbors=k + 4)
    assert_array_equal(model.predict_proba(X), expected)
    assert not np.array_equal(model.fit(X, Y).predict_proba(X), expected)

"""scikit-learn's own checks, and the habits of its users: pipelines, data frames, pickling, cloning."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import SSFMLFS, Sieve

BY_ORDER = "trees draw by the order of the rows, which the check changes; test_weights.py keeps it"


def failing(estimator):
    checks = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
    few = estimator.n_features_to_select == 2  # which are the same whatever is drawn
    return dict.fromkeys(checks, BY_ORDER) if isinstance(estimator, Sieve) and not few else {}


@parametrize_with_checks(
    [
        Sieve(n_trees=20, n_bootstraps=2),
        Sieve("auto", nominal=[], n_bootstraps=2, n_trees=20),
        Sieve(2, screen=2, n_trees=20),
        SSFMLFS(),
        SSFMLFS(2, wire="vectors", relation="similarity", irrelevant="nonnegative"),
        SSFMLFS(wire="matrices", decisions="soft", constant="keep"),
        SSFMLFS(missing="unrelated", spread="mean", ranges="local"),
    ],
    expected_failed_checks=failing,
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks([Sieve()], expected_failed_checks=failing)
def test_scikit_learn_s_checks_with_all_trees_and_bootstraps(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(40, 5)), columns=["age", "height", "weight", "pulse", "dose"])
    return X, rng.integers(0, 2, (40, 3))


def test_it_selects_inside_a_pipeline_and_a_grid_search(data):
    X, Y = data
    model = make_pipeline(StandardScaler(), SSFMLFS(2), MultiOutputClassifier(KNeighborsClassifier(3)))
    assert model.fit(X, Y).predict(X).shape == Y.shape
    search = GridSearchCV(model, {"ssfmlfs__n_features_to_select": [1, 3], "ssfmlfs__lam": [0.8, 1.2]}, cv=2)
    best = search.fit(X, Y).best_estimator_["ssfmlfs"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert best.support_.sum() == search.best_params_["ssfmlfs__n_features_to_select"]
    assert best.lam == search.best_params_["ssfmlfs__lam"]


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_it_gives_data_frames_with_the_chosen_names(data, output, frame):
    X, Y = data
    selector = SSFMLFS(2).set_output(transform=output).fit(X, Y)
    reduced = selector.transform(X)
    assert isinstance(reduced, frame)
    assert list(reduced.columns) == [name for name, kept in zip(X.columns, selector.support_, strict=True) if kept]
    assert list(selector.get_feature_names_out()) == list(reduced.columns)


def test_a_polars_frame_is_as_good_as_a_pandas_one(data):
    X, Y = data
    clients = [X.iloc[:15], X.iloc[15:]]
    pandas_scores = SSFMLFS().fit(X, Y, clients=clients).scores_
    polars_scores = SSFMLFS().fit(pl.from_pandas(X), Y, clients=[pl.from_pandas(part) for part in clients]).scores_
    assert_array_equal(polars_scores, pandas_scores)


def test_it_pickles_and_clones(data):
    X, Y = data
    selector = SSFMLFS(3, lam=0.9).fit(X, Y, clients=[X[:20], X[20:]])
    copy = pickle.loads(pickle.dumps(selector))
    assert_array_equal(copy.transform(X), selector.transform(X))
    assert copy.transcript_ == selector.transcript_
    assert clone(selector).get_params() == selector.get_params()


def test_sparse_rows_give_the_dense_answer_and_stay_sparse_when_reduced():
    rng = np.random.default_rng(0)
    X = (rng.random((30, 12)) < 0.3).astype(float)
    Y = rng.integers(0, 2, (30, 3))
    dense, thin = SSFMLFS(4).fit(X, Y), SSFMLFS(4).fit(sparse.csr_matrix(X), Y)
    assert_array_equal(thin.order_, dense.order_)
    np.testing.assert_allclose(thin.scores_, dense.scores_, rtol=1e-12)
    assert sparse.issparse(thin.transform(sparse.csr_matrix(X)))


def test_import_is_light_and_names_are_found():
    import fedsieve

    assert set(fedsieve.__all__) <= set(dir(fedsieve))
    assert fedsieve.partition.dirichlet
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        fedsieve.nonsense  # noqa: B018

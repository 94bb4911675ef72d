"""What holds of every semi-supervised rival: its model, permutations of rows, few labels, limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.rivals.csfs import CSFS, csfs
from fedsieve.rivals.rlsr import RLSR, rlsr
from fedsieve.rivals.scfc import SCFC, scfc
from fedsieve.rivals.sfam import SFAM, sfam
from fedsieve.rivals.sfss import SFSS, sfss
from strategies import partly_labeled

MODELS = {SFSS: sfss, CSFS: csfs, RLSR: rlsr, SCFC: scfc, SFAM: sfam}
METHODS = tuple(MODELS)
every_method = pytest.mark.parametrize("method", METHODS)


def hide(Y, labeled):
    return np.where(labeled[:, None], Y, -1)


def order(method, X, Y, **parameters):
    return method(**parameters).fit(X, Y).order_.tolist()


@pytest.fixture
def noise(rng):
    """Noise, labels and 60 of 200 rows that have them."""
    return rng.random((200, 12)), rng.integers(0, 2, (200, 3)).astype(float), rng.permutation(200) < 60


@every_method
@given(table=partly_labeled(ties=False), seed=st.integers(0, 2**32 - 1))
def test_moved_features_and_rows_keep_their_scores(method, table, seed):
    X, Y, labeled = table
    rng = np.random.default_rng(seed)
    rows, features = rng.permutation(len(X)), rng.permutation(X.shape[1])
    known = hide(Y, labeled)
    fixed = {"tol": 0.0, "max_iter": 6}
    here = method(**fixed).fit(X, known).scores_
    there = method(**fixed).fit(X[rows][:, features], known[rows]).scores_
    assert_allclose(there, here[features], rtol=1e-6, atol=1e-8 * (1 + here.max()))


@every_method
def test_labels_of_unlabeled_rows_are_not_looked_at(method, noise):
    """By the models either: the search for weights hands them all labels."""
    X, Y, labeled = noise
    parameters = method().get_params()
    del parameters["n_features_to_select"]
    seen, garbage = (
        MODELS[method](X, np.where(labeled[:, None], Y, other), labeled, **parameters) for other in (Y, 77.0)
    )
    assert_array_equal(seen.W, garbage.W)
    assert_array_equal(seen.b, garbage.b)


@every_method
def test_a_constant_feature_is_last(method, noise):
    X, Y, labeled = noise
    X[:, 6] = 3.0
    fitted = method(tol=0.0, max_iter=5).fit(X, hide(Y, labeled))
    assert fitted.order_[-1] == 6
    assert_array_equal(fitted.coef_[6], 0.0)
    assert method is RLSR or fitted.scores_[6] == 0


@every_method
def test_one_label_in_either_form(method, noise):
    X, Y, labeled = noise
    X[:, 4] = Y[:, 0]
    classes = np.where(labeled, Y[:, 0], -1)
    assert order(method, X, classes) == order(method, X, classes[:, None])
    assert order(method, X, classes)[0] == 4
    assert method().fit(X, classes).coef_.shape == (12, 2)


@every_method
def test_one_class_is_one_label(method, rng):
    fitted = method().fit(rng.random((9, 3)), np.where(np.arange(9) < 4, 1, -1))
    assert fitted.coef_.shape == (3, 1)
    assert np.isfinite(fitted.scores_).all()


@every_method
def test_more_labels_than_features(method, rng):
    Y = rng.integers(0, 2, (80, 9))
    X = np.stack([rng.random(80), Y[:, 3], rng.random(80)], axis=1)
    fitted = method().fit(X, hide(Y, np.arange(80) < 50))
    assert fitted.order_[0] == 1
    assert fitted.coef_.shape == (3, 9)


@every_method
def test_a_label_that_no_row_has(method, noise):
    X, Y, labeled = noise
    X[:, 2] = Y[:, 0]
    Y[:, 2] = 0.0
    assert order(method, X, hide(Y, labeled))[0] == 2


@every_method
def test_no_unlabeled_rows(method, noise):
    X, Y, _ = noise
    X[:, [2, 5, 7]] = Y + 0.3 * X[:, [2, 5, 7]]
    assert set(order(method, X, Y)[:3]) == {2, 5, 7}


@every_method
def test_one_labeled_row(method, noise):
    X, Y, _ = noise
    fitted = method().fit(X, hide(Y, np.arange(200) == 7))
    assert np.isfinite(fitted.scores_).all()


@every_method
@pytest.mark.parametrize("shape", [(30, 5), (12, 20)])
def test_extreme_weights_give_finite_scores(method, rng, shape):
    X, Y = rng.random(shape), hide(rng.integers(0, 2, (shape[0], 3)), np.arange(shape[0]) < 6)
    for value in (1e-6, 1e6):
        fitted = method(**dict.fromkeys(method.weight_rules, value)).fit(X, Y)
        assert np.isfinite(fitted.scores_).all()
        assert np.isfinite(fitted.objective_).all()


@every_method
def test_what_is_known_after_the_fit(method, noise):
    X, Y, labeled = noise
    fitted = method(4, max_iter=3, tol=0.0).fit(X, hide(Y, labeled))
    assert fitted.coef_.shape == (12, 3)
    assert fitted.intercept_.shape == (3,)
    assert fitted.n_iter_ == len(fitted.objective_) == 3
    assert fitted.weights_ == dict.fromkeys(method.weight_rules, 1.0)
    assert fitted.transform(X).shape == (200, 4)
    if method is not RLSR:
        assert_allclose(fitted.scores_, np.linalg.norm(fitted.coef_, axis=1))


@pytest.mark.parametrize(("method", "start"), [(CSFS, 0.0), (SCFC, 0.0), (SFAM, 0.0), (RLSR, 1 / 3)])
def test_the_intercept_is_the_mean_of_the_soft_labels_that_the_coefficients_fit(method, start, noise):
    X, Y, labeled = noise
    first = method(max_iter=1).fit(X, hide(Y, labeled)).intercept_
    assert_allclose(first, np.where(labeled[:, None], Y, start).mean(axis=0))
    later = method(max_iter=2).fit(X, hide(Y, labeled)).intercept_
    assert not np.allclose(later, first)


@every_method
def test_the_tolerance_stops_it(method, noise):
    X, Y, labeled = noise
    objective = method(tol=1e-2).fit(X, hide(Y, labeled)).objective_
    changes = np.abs(np.diff(objective)) / objective[:-1]
    assert (changes[:-1] >= 1e-2).all()
    assert changes[-1] < 1e-2

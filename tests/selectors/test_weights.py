"""Rows that count more or less: `sample_weight` of Sieve against repeated rows, and refusals of all others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from fedsieve import Sieve
from fedsieve.catalog import registry
from fedsieve.errors import DataError, ParameterError
from fedsieve.kernels import tree_importances
from fedsieve.sieve.label_model import label_model
from reference import sieve_loops as loops

QUICK = {"n_trees": 8, "n_bootstraps": 0}


def case(seed, n_rows=18, n_features=7):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features))
    Y = (X[:, :3] + 0.4 * rng.random((n_rows, 3)) > 0.7).astype(float)
    return X, Y, rng.integers(0, 4, n_rows), [rng.random((9, n_features)) for _ in range(3)]


def assert_same(one, other):
    for name in ("scores_", "relevance_", "redundancy_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-9)
    assert_array_equal(one.order_, other.order_)


@pytest.mark.parametrize("parameters", [{}, {"screen": 3, "n_features_to_select": 1}, {"nominal": [0]}], ids=str)
@pytest.mark.parametrize("federated", [True, False])
def test_whole_weights_are_repeated_rows(parameters, federated):
    X, Y, weights, clients = case(3)
    X[:, 0] = np.round(3 * X[:, 0])
    clients = [np.column_stack([np.round(3 * Z[:, 0]), Z[:, 1:]]) for Z in clients] if federated else None
    weighted = Sieve(**parameters, **QUICK).fit(X, Y, clients=clients, sample_weight=weights)
    repeated = Sieve(**parameters, **QUICK).fit(*(np.repeat(part, weights, axis=0) for part in (X, Y)), clients=clients)
    assert_same(weighted, repeated)
    plain = Sieve(**parameters, **QUICK).fit(X, Y, clients=clients)
    assert not np.allclose(plain.scores_, weighted.scores_, atol=1e-6), "weights that change nothing prove nothing"


@pytest.mark.parametrize("center", ["federation", "sites"])
@pytest.mark.parametrize("missing", ["mean", "indicator"])
@pytest.mark.parametrize("parameters", [{}, {"screen": 3, "n_features_to_select": 1}], ids=str)
def test_also_in_the_means_that_stand_in_for_missing_values(parameters, missing, center):
    X, Y, weights, clients = case(3)
    rng = np.random.default_rng(4)
    X, *clients = (np.where(rng.random(Z.shape) < 0.2, np.nan, Z) for Z in (X, *clients))
    sieve = Sieve(missing=missing, center=center, **parameters, **QUICK)
    weighted = clone(sieve).fit(X, Y, clients=clients, sample_weight=weights)
    repeated = clone(sieve).fit(*(np.repeat(part, weights, axis=0) for part in (X, Y)), clients=clients)
    assert_same(weighted, repeated)


def test_with_other_weights_each_row_counts_once_in_these_means():
    X, Y, weights, clients = case(3)
    X[:4, 0] = np.nan
    weighted = Sieve(**QUICK).fit(X, Y, clients=clients, sample_weight=weights + 0.5)
    assert np.isfinite(weighted.scores_).all()


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.booleans())
def test_so_they_are_in_trees_and_models_also_where_labels_are_unknown(seed, hide):
    X, Y, weights, _ = case(seed)
    weights = weights + 1
    Y = np.where(hide & (np.random.default_rng(seed).random(Y.shape) < 0.3), np.nan, Y)
    many = [np.repeat(part, weights, axis=0) for part in (X, Y)]
    trees = tree_importances(X, Y, 5, seed, weights.astype(float))
    assert_allclose(trees, tree_importances(*many, 5, seed), rtol=0, atol=1e-9)
    model = label_model(X, Y, 0.3, weights.astype(float))
    assert_allclose(model, label_model(*many, 0.3), rtol=0, atol=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.001, 1000))
def test_only_the_ratio_of_weights_matters_to_a_model(seed, factor):
    X, Y, weights, _ = case(seed)
    w = weights + 0.5
    scaled = label_model(X, Y, 0.3, factor * w) * np.sqrt(factor)
    assert_allclose(scaled, label_model(X, Y, 0.3, w), rtol=1e-7, atol=1e-9)


def test_weights_of_one_change_nothing_but_what_is_drawn():
    X, Y, _, clients = case(5)
    ones = Sieve(**QUICK).fit(X, Y, clients=clients, sample_weight=np.ones(len(X)))
    assert_same(ones, Sieve(**QUICK).fit(X, Y, clients=clients))


def test_rows_that_do_not_count_may_hold_anything():
    X, Y, weights, clients = case(6)
    other = X.copy()
    other[weights == 0] = 1e6
    found = Sieve(**QUICK).fit(other, Y, clients=clients, sample_weight=weights)
    assert_same(found, Sieve(**QUICK).fit(X, Y, clients=clients, sample_weight=weights))


def test_unlabeled_rows_count_once_or_not_at_all():
    X, Y, _, _ = case(7)
    Y[10:] = -1
    weights = np.ones(18)
    weights[12] = 0
    found = Sieve(**QUICK).fit(X, Y, sample_weight=weights)
    assert_same(found, Sieve(**QUICK).fit(np.delete(X, 12, 0), np.delete(Y, 12, 0), sample_weight=weights[:-1] ** 0))
    weights[13] = 2.5
    with pytest.raises(DataError, match=r"sample_weight is for labeled rows; an unlabeled row \(-1\) counts once"):
        Sieve(**QUICK).fit(X, Y, sample_weight=weights)


def test_bootstraps_and_folds_follow_the_weights():
    rng = np.random.default_rng(1)
    X = rng.random((60, 5))
    # The first half of the rows is about the first column, the other half about the second.
    Y = np.where(np.arange(60) < 30, X[:, 0] > 0.5, X[:, 1] > 0.5).astype(int)
    first = np.where(np.arange(60) < 30, 1.0, 1e-3)
    one, two = (Sieve("auto", n_trees=20).fit(X, Y, sample_weight=w) for w in (first, first[::-1]))
    assert one.order_[0] == 0
    assert two.order_[0] == 1
    assert one.stability_[0] > one.stability_[1]
    assert two.stability_[1] > two.stability_[0]
    assert one.choice_.k == two.choice_.k == 1


@pytest.mark.parametrize("kind", [list, pd.Series, np.float32])
def test_weights_come_as_any_kind_of_column(kind):
    X, Y, weights, _ = case(8)
    given_weights = weights.astype(np.float32) if kind is np.float32 else kind(weights)
    found = Sieve(**QUICK).fit(X, Y, sample_weight=given_weights)
    assert_same(found, Sieve(**QUICK).fit(X, Y, sample_weight=weights))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (np.ones(5), r"must be one number per row of X, 18; got shape \(5,\)"),
        (np.ones((18, 1)), "must be one number per row of X"),
        (2.0, "must be one number per row of X"),
        (np.full(18, np.nan), "must be finite and not negative"),
        (-np.ones(18), "must be finite and not negative"),
        (np.zeros(18), "is zero in all labeled rows"),
        (["heavy"] * 18, "must be numbers, one per row"),
    ],
)
def test_bad_weights_are_refused(weights, said):
    X, Y, _, _ = case(9)
    with pytest.raises(DataError, match=rf"^Sieve: sample_weight {said}"):
        Sieve(**QUICK).fit(X, Y, sample_weight=weights)


def test_noise_knows_no_weights():
    X, Y, weights, clients = case(9)
    with pytest.raises(ParameterError, match=r"takes no sample_weight beside epsilon: .* Leave one of them out"):
        Sieve(epsilon=1.0).fit(X, Y, clients=clients, sample_weight=weights)


@pytest.mark.parametrize("name", [name for name, entry in registry().items() if entry.federated])
def test_labels_may_be_called_y_but_not_twice(name):
    X, Y, _, _ = case(10)
    assert_array_equal(registry()[name].factory().fit(X=X, y=Y).order_, registry()[name].factory().fit(X, Y).order_)
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'y'"):
        registry()[name].factory().fit(X, Y, y=Y)


@pytest.mark.parametrize("name", [name for name in registry() if name != "Sieve"])
def test_all_others_refuse_weights_and_python_refuses_the_rest(name):
    X, Y, weights, _ = case(10)
    factory = registry()[name].factory
    with pytest.raises(ParameterError, match=rf"^{factory.__name__}: takes no sample_weight, it counts every row once"):
        factory().fit(X, Y, sample_weight=weights)
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'wieght'"):
        factory().fit(X, Y, wieght=weights)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.booleans())
def test_trees_of_rows_with_unknown_labels_are_those_of_the_loops(seed, hide):
    X, Y, _, _ = case(seed)
    Y = np.where(hide & (np.random.default_rng(seed).random(Y.shape) < 0.4), np.nan, Y)
    assert_allclose(tree_importances(X, Y, 4, seed), loops.tree_importances(X, Y, 4, seed), rtol=0, atol=1e-12)

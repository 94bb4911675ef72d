"""Parameters in numpy's types, as grids and tables give them, mean what Python's own values mean, in every method."""

import inspect
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from fedsieve import Sieve
from fedsieve.catalog import registry
from fedsieve.checks import plain
from fedsieve.errors import ParameterError
from fedsieve.learning import MLkNN
from fedsieve.methods import METHODS
from fedsieve.protocol import Labeled
from fedsieve.selection_file import selection_record, selection_text
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

NUMPY = {bool: (np.bool_,), int: (np.int64, np.int16, np.uint8), float: (np.float64, np.float32), str: (np.str_,)}
QUICK = {"n_trees": 4, "n_bootstraps": 1, "n_cycles": 2, "max_iter": 20, "max_message_bytes": 512_000_000}
GIVEN = {"n_features_to_select": 2, "random_state": 3}
"""Values of what has none by default, and of what would take long."""


def values_of(factory):
    """A plain value for each parameter that is a number, a truth value or a word."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(factory).parameters.items()}
    chosen = {name: {**QUICK, **GIVEN}.get(name, default) for name, default in defaults.items()}
    return {name: value for name, value in chosen.items() if type(value) in NUMPY}


def in_numpy(value, number):
    kinds = NUMPY[type(value)]
    kind = kinds[number % len(kinds)]
    fits = not isinstance(value, int) or isinstance(value, bool) or value <= np.iinfo(kind).max
    return kind(value) if fits else np.int64(value)


def build(name, n_features_to_select):
    factory = registry()[name].factory
    quick = {key: value for key, value in QUICK.items() if key in inspect.signature(factory).parameters}
    return factory(n_features_to_select, **quick)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    Y = rng.integers(0, 2, (24, 3))
    X = rng.random((24, 6))
    X[:, :3] += Y
    return X, Y


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", registry())
def test_every_method_takes_numpy_s_types_for_python_s(name, number, data):
    factory = registry()[name].factory
    values = values_of(factory)
    given = {key: in_numpy(value, number + place) for place, (key, value) in enumerate(values.items())}
    assert all(type(given[key]) is not type(values[key]) for key in values)
    odd = factory(**given)
    # What float32 holds of a number is meant, not the number it was made from.
    usual = factory(**plain(given)).fit(*data)
    odd.fit(*data)
    assert_array_equal(odd.order_, usual.order_)
    assert_array_equal(odd.scores_, usual.scores_)
    assert_array_equal(odd.support_, usual.support_)
    params = odd.get_params()
    assert all(params[key] is given[key] for key in given), "fit must leave the parameters as they were given"
    again = clone(odd)
    assert {key: again.get_params()[key] for key in given} == given
    assert_array_equal(again.fit(*data).order_, odd.order_)


@pytest.mark.parametrize("name", registry())
def test_every_method_keeps_as_many_as_a_number_of_any_type_or_a_share_says(name, data):
    wanted = {np.int64(1): 1, np.uint8(5): 5, 0.5: 3, np.float64(0.99): 5, np.float32(0.01): 1}  # of six, as RFE has it
    kept = [build(name, k).fit(*data).get_support().sum() for k in wanted]
    assert kept == ([6] * len(wanted) if name == "all features" else list(wanted.values()))


@pytest.mark.parametrize("name", METHODS)
def test_a_result_of_such_parameters_can_be_written_and_is_the_same(name, data):
    X, Y = data
    of_method = METHODS[name]
    features, labels = tuple("abcdef"), ("u", "v", "w")
    own = {"labels": labels} if of_method.sites_hold_labels else {}
    values = values_of(of_method)
    values = {key: value for key, value in values.items() if key not in ("random_state", "seed")}
    tables = {
        site: ArrayTable(features, X[rows], labels, Y[rows].astype(float))
        for site, rows in (("one", slice(0, 8)), ("two", slice(8, 16)))
    }

    def record(parameters):
        method = of_method(features, **own, **parameters)
        outcome = in_process.select(method, Labeled(X[16:], Y[16:].astype(float)), tables)
        return selection_text(selection_record(method, outcome, list(labels)))

    assert record({key: in_numpy(value, 0) for key, value in values.items()}) == record(values)


def test_mlknn_counts_no_further_than_its_number_of_neighbors_fits():
    rng = np.random.default_rng(0)
    X, Y = rng.random((300, 2)), rng.integers(0, 2, (300, 2))
    small = MLkNN(np.uint8(255), np.float32(1)).fit(X, Y)
    assert_array_equal(small.predict_proba(X), MLkNN(255, 1.0).fit(X, Y).predict_proba(X))


def test_ranges_of_numpy_s_numbers_can_be_written():
    pairs = {"a": np.array([0, 1]), np.str_("b"): (np.float32(0.5), np.int64(2))}
    method = METHODS["Sieve"](("a", "b"), ranges=pairs)
    assert json.loads(json.dumps(method.parameters()))["ranges"] == {"a": [0, 1], "b": [0.5, 2]}


def test_a_grid_over_an_arange_scores_different_numbers(data):
    X, Y = data
    model = make_pipeline(Sieve(n_trees=5, n_bootstraps=0), LogisticRegression())
    grid = {"sieve__n_features_to_select": np.arange(1, 7)}
    search = GridSearchCV(model, grid, cv=2, scoring="neg_log_loss").fit(X, Y[:, 0])
    assert len(set(search.cv_results_["mean_test_score"])) == 6


@pytest.mark.parametrize("name", registry())
def test_what_is_no_number_and_no_share_is_refused(name, data):
    rule = r"n_features_to_select must be a whole number in \[1, n_features=6\], .*share between 0 and 1"
    for bad in (True, np.bool_(True), np.float64(3.0), 2.5, 1.0, 0.0, -0.5, np.int64(0), 7, "3"):
        with pytest.raises(ParameterError, match=rule):
            build(name, bad).fit(*data)

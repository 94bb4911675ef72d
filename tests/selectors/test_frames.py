"""Data frames as users have them: columns in another order, columns too many, one name where a list is due."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from fedsieve import SSFMLFS, Sieve
from fedsieve.catalog import registry
from fedsieve.errors import DataError, FedSieveWarning, ParameterError
from fedsieve.methods import METHODS
from fedsieve.rivals import D2F, FMLFS

NAMES = ["age", "height", "weight", "sex_f"]


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.random((20, 4)), columns=NAMES)
    X["sex_f"] = X["sex_f"].round()
    return X, rng.integers(0, 2, (20, 2)), [X.iloc[:9], X.iloc[9:]]


@pytest.mark.parametrize("selector", [Sieve(2, n_trees=2, n_bootstraps=0), SSFMLFS(2), D2F(2)], ids=repr)
def test_another_order_is_told_the_way_out_which_leads_out(selector, data):
    X, Y, _ = data
    selector.fit(X, Y)
    for other in (X[NAMES[::-1]], X.assign(id=1)):
        with pytest.raises(
            DataError, match=r"(?s)should match those that were passed during fit.*feature_names_in_\]\.$"
        ):
            selector.transform(other)
        assert_array_equal(selector.transform(other[selector.feature_names_in_]), selector.transform(X))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing") as refused:
        selector.transform(X.drop(columns="age"))
    assert "feature_names_in_" not in str(refused.value)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_too_many_at_a_client_are_named_and_left_out(frame, data):
    X, Y, (one, two) = data
    clients = {
        "north": frame(two[NAMES[::-1]].assign(id="p1", ward="x").to_dict("list")),
        "south": frame(one.to_dict("list")),
    }
    with pytest.warns(FedSieveWarning) as told:
        found = SSFMLFS().fit(frame(X.to_dict("list")), Y, clients=clients)
    assert [str(warning.message) for warning in told] == [
        "client 'north': 2 columns not among the labeled rows', unused: 'id', 'ward'."
    ]
    assert_array_equal(found.scores_, SSFMLFS().fit(X, Y, clients={"north": two, "south": one}).scores_)


def test_so_they_are_where_clients_hold_labels(data):
    X, Y, (one, two) = data
    with pytest.warns(
        FedSieveWarning, match=r"^client 'client-1': 1 column not among the labeled rows', unused: 'id'\.$"
    ):
        found = FMLFS().fit(X, Y, clients=[(one, Y[:9]), (two.assign(id=7), Y[9:])])
    assert_array_equal(found.scores_, FMLFS().fit(X, Y, clients=[(one, Y[:9]), (two, Y[9:])]).scores_)


def test_columns_that_a_client_lacks_stay_an_error(data):
    X, Y, (one, two) = data
    with pytest.raises(DataError, match=r"^client 'b' has other columns .* \(missing: 'age', 'weight'; extra: 'id'\)"):
        Sieve().fit(X, Y, clients={"a": one, "b": two.assign(id=1).drop(columns=["age", "weight"])})


def test_the_same_columns_are_no_reason_to_warn(data):
    X, Y, clients = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SSFMLFS().fit(X, Y, clients=clients)


@pytest.mark.parametrize("kind", [Sieve, SSFMLFS])
@pytest.mark.parametrize("one", ["sex_f", np.str_("sex_f")])
def test_one_name_is_no_list_of_letters(kind, one, data):
    with pytest.raises(ParameterError) as refused:
        kind(nominal=one).fit(*data[:2])
    rule = f"{kind.__name__}: nominal must be a list of features; got"
    assert str(refused.value).startswith(rule)
    assert "For one write [" in str(refused.value)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"groups": "ab"}, "Sieve: groups must be a list of lists of features; got 'ab'."),
        (
            {"groups": ["age", "sex_f"]},
            "Sieve: groups[0] must be a list of features; got 'age'. For one write ['age'].",
        ),
        ({"groups": [3]}, "Sieve: groups[0] must be a list of features; got 3."),
        ({"nominal": 3}, "Sieve: nominal must be a list of features; got 3."),
    ],
    ids=str,
)
def test_what_is_no_list_is_refused_in_the_same_words(parameters, said, data):
    with pytest.raises(ParameterError) as refused:
        Sieve(**parameters).fit(*data[:2])
    assert str(refused.value) == said


def test_a_method_refuses_it_as_well():
    with pytest.raises(ParameterError, match="SSFMLFS: nominal must be a list of features; got 'ab'"):
        METHODS["SSFMLFS"](("a", "b"), nominal="ab")


@pytest.mark.parametrize("name", [name for name, entry in registry().items() if entry.federated])
def test_large_numbers_are_not_called_infinite(name, data):
    X, Y, _ = data
    with pytest.raises(DataError, match=r"1 too large \(beyond ±1e\+300\) value in column 'height'\. Numbers so large"):
        registry()[name].factory().fit(X.assign(height=[1e308, *X["height"][1:]]), Y)

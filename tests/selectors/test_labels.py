"""Labels as users have them: what is taken, and what is refused instead of being taken for classes."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import MultiLabelBinarizer

from fedsieve import SSFMLFS, Sieve
from fedsieve.catalog import registry
from fedsieve.errors import DataError
from fedsieve.rivals import D2F, FMLFS
from fedsieve.selectors.labels import read_labels

X = np.random.default_rng(0).random((6, 4))
SETS = [{"flu"}, {"flu", "cold"}, set(), {"cold"}, {"flu"}, {"cold"}]
LABELED = {name: entry.factory for name, entry in registry().items() if not entry.control}


@pytest.mark.parametrize("name", LABELED)
@pytest.mark.parametrize("many", [np.asarray, pd.Series, list], ids=["array", "series", "list"])
def test_measurements_are_no_classes(name, many):
    factory = LABELED[name]
    with pytest.raises(DataError) as refused:
        factory().fit(X, many([1.5, 2.25, 2.25, 4.0, 7.125, -1.0]))
    assert str(refused.value) == (
        f"{factory.__name__}: y must hold classes; these are 5 different numbers, not all of them whole. Make classes "
        "of what was measured, such as y > threshold, or give 0/1 labels."
    )


@pytest.mark.parametrize("name", LABELED)
@pytest.mark.parametrize(
    "sets",
    [SETS, [list(row) for row in SETS], [tuple(sorted(row)) for row in SETS], pd.Series(SETS), np.array(SETS)],
    ids=["sets", "lists", "tuples", "series", "array"],
)
def test_sets_of_labels_are_told_the_way_out(name, sets):
    factory = LABELED[name]
    with pytest.raises(
        DataError, match=rf"^{factory.__name__}: .* 0/1 columns.* MultiLabelBinarizer\(\)\.fit_transform"
    ):
        factory().fit(X, sets)


def test_the_way_out_leads_out():
    Y = MultiLabelBinarizer().fit_transform(SETS)
    assert len(Sieve(n_trees=2, n_bootstraps=0).fit(X, Y).order_) == 4


def test_lists_of_as_many_words_each_are_told_it_too():
    with pytest.raises(DataError, match=r"labels must be 0 or 1; Y has dtype .* MultiLabelBinarizer"):
        read_labels([["flu", "cold"]] * 6)


@pytest.mark.parametrize("y", [[0.0, 1.0, 2.0, -1.0], np.array([0, 1, 2, -1], dtype=np.float32), [0, 1, 2, -1.0]])
def test_whole_numbers_are_classes_in_any_type(y):
    labels, labeled = read_labels(y)
    assert_array_equal(labels[:3], np.eye(3))
    assert labeled.tolist() == [True, True, True, False]


@pytest.mark.parametrize("y", [[True, False, True], pd.Categorical(["a", "b", "a"]), pd.Series(["a", "b", "a"])])
def test_truth_values_and_categories_are_classes(y):
    assert read_labels(y)[0].sum(axis=0).tolist() in ([1, 2], [2, 1])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (pd.Series([1, None, 2], dtype="Int64"), r"y contains NaN or infinity\. An unlabeled row is -1\."),
        (["a", None, "b"], "y contains NaN or infinity"),
        ([1.0, np.inf, 2.0], "y contains NaN or infinity"),
        (pd.Series(["a", np.nan, "b"]), "y contains NaN or infinity"),
        ([Decimal("1.5"), "b", -1], "y mixes numbers and text"),
        ([1, "b", "c"], "y mixes numbers and text; name all classes alike"),
        (
            pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-02"]),
            "y must hold classes; these are 2 different dates",
        ),
    ],
)
def test_what_is_neither_class_nor_label_is_named(y, said):
    with pytest.raises(DataError, match=f"^Sieve: {said}"):
        read_labels(y, "Sieve")


def test_measurements_at_clients_that_hold_labels_are_refused_too():
    pair = (X, np.linspace(0, 0.9, 6))
    with pytest.raises(DataError, match=r"^FMLFS: y must hold classes; these are \d+ different numbers"):
        FMLFS().fit(X, [0, 1, 0, 1, 0, 1], clients=[pair, pair])
    with pytest.raises(DataError, match=r"^FMLFS: client 'client-1': each row of Y is a collection"):
        FMLFS().fit(X, [0, 1, 0, 1, 0, 1], clients=[(X, [0, 1] * 3), (X, SETS)])


def test_measurements_in_one_column_of_a_table_are_refused_as_well():
    with pytest.raises(DataError, match="these are 6 different numbers"):
        SSFMLFS().fit(X, np.linspace(0.1, 0.9, 6)[:, None])
    with pytest.raises(DataError, match="labels must be 0 or 1"):
        D2F().fit(X, X[:, :2])


@pytest.mark.parametrize("value", [7.25, 773100])
def test_a_wrong_label_is_told_by_its_place_and_never_shown(value):
    Y = np.resize([0.0, 1.0, 1.0], (6, 2))
    Y[1, 0] = value
    with pytest.raises(DataError, match="labels must be 0 or 1; got another number in row 1, label 0") as refused:
        Sieve().fit(X, Y)
    assert f"{value:g}" not in str(refused.value)


@pytest.mark.parametrize(
    ("y", "these"),
    [
        (np.arange(60.0), "60 different numbers in 60 rows"),
        ([f"{value / 1000}" for value in range(60)], "60 different numbers, not all of them whole"),
        ([str(value) for value in range(60)], "60 different numbers in 60 rows"),
        ([f"patient {value}" for value in range(60)], "60 different words in 60 rows"),
        ([*range(30), *range(10)] + [-1] * 20, "30 different numbers in 40 rows"),
    ],
)
def test_nearly_as_many_classes_as_rows_are_none(y, these):
    with pytest.raises(DataError, match=rf"^Sieve: y must hold classes; these are {these}\. Make classes of"):
        read_labels(y, "Sieve")


@pytest.mark.parametrize("y", [np.arange(60) % 30, np.arange(19), [str(value % 4) for value in range(60)]])
def test_many_classes_are_classes_still(y):
    assert read_labels(y)[0].shape[1] == len(set(y))


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", object])
def test_labels_that_pandas_calls_na_are_unknown(dtype):
    columns = {"a": [0, 1, pd.NA, pd.NA], "b": [1, 0, 1, pd.NA]}
    Y = pd.DataFrame({name: pd.array(values, dtype=dtype) for name, values in columns.items()})
    labels, labeled = read_labels(Y, partly=True)
    assert labeled.tolist() == [True, True, True, False]
    assert_array_equal(labels[:3], [[0, 1], [1, 0], [np.nan, 1]])
    with pytest.raises(DataError, match="got nan in row 2, label 0"):
        read_labels(Y)

"""A dataset in numbers, and what looks wrong in it."""

import numpy as np
import pytest
from scipy import sparse

from fedsieve import datasets
from fedsieve.datasets.description import constant_features, findings, identifiers, label_leaks

N_ROWS = 40


def dataset(columns, labels, nominal=(), as_sparse=False, **more):
    X = np.array(list(columns.values()), dtype=float).T
    return datasets.Dataset(
        name="made",
        X=sparse.csr_array(X) if as_sparse else X,
        Y=np.array(list(labels.values()), dtype=int).T,
        feature_names=tuple(columns),
        label_names=tuple(labels),
        nominal=nominal,
        **more,
    )


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def mixed(request):
    rows = np.arange(N_ROWS)
    columns = {
        "real": rows / 7,
        "seventeen": rows % 17,
        "sixteen": rows % 16,
        "gap": np.where(rows == 3, np.nan, rows % 2),
        "bit": rows % 2,
        "color": rows % 3,
        "zero": 0 * rows,
        "three": 0 * rows + 3,
        "lone": np.where(rows == 5, 4, np.nan),
        "unknown": rows * np.nan,
    }
    labels = {"a": rows < 10, "b": rows < 30, "never": rows < 0}
    train, test = rows[:25], rows[25:]
    return dataset(columns, labels, ("color",), request.param, train=train, test=test, source="S", files=("f",))


def test_the_numbers(mixed):
    told = datasets.describe(mixed)
    assert (told.name, told.n_samples, told.n_features, told.n_labels) == ("made", 40, 10, 3)
    assert told.cardinality == pytest.approx((10 * 2 + 20) / 40)
    assert told.density == pytest.approx(told.cardinality / 3)
    assert (told.label_sets, told.empty_labels, told.bare_rows) == (3, 1, 10)
    assert told.split == (25, 15)
    assert (told.source, told.files) == ("S", ("f",))
    assert told.is_sparse == sparse.issparse(mixed.X)
    table = mixed.X.toarray() if told.is_sparse else mixed.X
    assert told.missing == np.isnan(table).sum() == 1 + 39 + 40
    assert told.nonzero == pytest.approx((table != 0).mean())


def test_every_feature_is_of_one_kind(mixed):
    assert datasets.describe(mixed).kinds == {
        "continuous": 2,  # real, seventeen
        "few-valued": 1,  # sixteen
        "0/1": 2,  # bit, and gap where it is known
        "nominal": 1,
        "constant": 4,
    }


def test_constant_features_are_found_missing_values_aside(mixed):
    assert constant_features(mixed) == ["zero", "three", "lone", "unknown"]
    assert findings(mixed) == ["feature 'zero', 'three', 'lone', 'unknown' are constant."]
    assert datasets.describe(mixed).findings == tuple(findings(mixed))


def test_without_a_split_there_is_none():
    told = datasets.describe(dataset({"a": [0, 1, 2]}, {"y": [0, 1, 1]}))
    assert told.split is None
    assert told.findings == ()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_only_a_feature_that_equals_a_label_in_every_row_is_a_leak(as_sparse):
    y = np.arange(N_ROWS) % 3 == 0
    almost = y.copy()
    almost[7] = not almost[7]
    columns = {
        "copy": y,
        "almost": almost,
        "double": 2 * y,
        "gap": np.where(np.arange(N_ROWS) == 1, np.nan, y),
        "not": ~y,
        "none": 0 * y,
        "all": 0 * y + 1,
        "again": y,
    }
    made = dataset(columns, {"z": ~almost, "y": y, "never": 0 * y, "always": 0 * y + 1}, as_sparse=as_sparse)
    assert label_leaks(made) == [("copy", "y"), ("again", "y")]


def test_many_leaks_are_not_told_one_by_one():
    rng = np.random.default_rng(3)
    Y = {f"y{i}": rng.integers(0, 2, N_ROWS) for i in range(5)}
    found = findings(dataset({f"x{i}": column for i, column in enumerate(Y.values())}, Y))
    assert found == [
        "feature 'x0' equals label 'y0' in every row: a label among the features?",
        "feature 'x1' equals label 'y1' in every row: a label among the features?",
        "feature 'x2' equals label 'y2' in every row: a label among the features?",
        "2 more features equal a label in every row.",
    ]


def test_names_used_twice_are_found():
    X, Y = np.arange(12.0).reshape(3, 4), np.eye(3, dtype=int)
    made = datasets.Dataset("made", X, Y, ("a", "b", "a", "y"), ("y", "z", "z"))
    assert findings(made) == [
        "several features are called 'a'.",
        "several labels are called 'z'.",
        "a feature and a label are called 'y'.",
    ]


def test_a_nominal_feature_with_a_code_for_each_row_may_be_an_id():
    rows = np.arange(N_ROWS)
    columns = {"id": rows, "number": rows, "twice": rows // 2}
    made = dataset(columns, {"y": rows < 4}, nominal=("id", "twice"))
    assert identifiers(made) == ["id"]
    assert findings(made) == ["feature 'id' has a code of its own in every row: an ID?"]
    few = dataset({"c": rows[:19]}, {"y": rows[:19] < 4}, nominal=("c",))
    assert identifiers(few) == []
    assert identifiers(dataset({"c": rows[:20]}, {"y": rows[:20] < 4}, nominal=("c",))) == ["c"]


def test_nothing_is_wrong_with_the_digits_but_three_pixels():
    assert len(findings(datasets.load_digits())) == 1
    assert len(constant_features(datasets.load_digits())) == 3

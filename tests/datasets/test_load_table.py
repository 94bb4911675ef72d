"""The user's own CSV or Parquet table as a dataset."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from fedsieve import datasets
from fedsieve.datasets.table_files import write_file
from fedsieve.errors import DataError, FedSieveWarning

TABLE = pa.table(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "y_b": [0, 1, 1, 0],
        "age": [30.5, None, 41.0, 8.0],
        "y_a": [True, False, True, True],
        "dose": [1, 2, 3, 1],
    }
)


@pytest.fixture(params=["t.csv", "t.parquet"])
def path(request, tmp_path):
    write_file(TABLE, tmp_path / request.param)
    return tmp_path / request.param


@pytest.mark.parametrize(
    ("labels", "names"),
    [("prefix:y_", ("y_b", "y_a")), ("y_a,y_b", ("y_a", "y_b")), (["y_a", "y_b"], ("y_a", "y_b")), (["y_a"], ("y_a",))],
)
def test_labels_by_list_or_prefix(path, labels, names):
    drop = ["id", *({"y_a", "y_b"} - set(names))]
    data = datasets.load_table(path, labels, drop=drop)
    assert data.label_names == names
    truth = {"y_a": [1, 0, 1, 1], "y_b": [0, 1, 1, 0]}
    assert_array_equal(data.Y, np.array([truth[name] for name in names]).T)
    assert data.feature_names == ("age", "dose")
    assert_array_equal(data.X, [[30.5, 1], [np.nan, 2], [41, 3], [8, 1]])
    assert (data.name, data.train, data.test, data.nominal) == ("t", None, None, ())
    assert data.files == (str(path),)
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)


def test_labels_of_a_label_file_given_or_beside(path, tmp_path):
    with pytest.raises(DataError, match=r"which columns are labels\? There is no t\.xml beside it"):
        datasets.load_table(path, drop=["id"])
    (tmp_path / "t.xml").write_text("<labels><label name='y_a'/><label name='y_b'/></labels>")
    assert datasets.load_table(path, drop=["id"]).label_names == ("y_a", "y_b")
    (tmp_path / "o.xml").write_text("<labels><label name='y_b'/></labels>")
    assert datasets.load_table(str(path), tmp_path / "o.xml", drop=["id"]).label_names == ("y_b",)


@pytest.mark.parametrize(
    ("labels", "drop", "says"),
    [
        ("prefix:y_", [], "column 'id' holds string, first in row 1, no numbers. Encode it in numbers, the same at"),
        ("dose", ["id"], "label 'dose' must be 0 or 1; got another number in data row 2 and in 1 others."),
        ("age", ["id"], "label 'age' must be 0 or 1; got another number in data row 1 and in 3 others."),
        ("y_a,z", ["id"], "no label column 'z' among the columns 'id', 'y_b', 'age', 'y_a', 'dose'."),
        ("y_a", ["ID"], "has no column 'ID' to drop; columns: 'id', 'y_b', 'age', 'y_a', 'dose'."),
        ("y_a", ["id", "y_b", "age", "dose"], "all 5 columns are labels or dropped, so there is no feature."),
        ([], [], "no label column was named."),
    ],
)
def test_what_is_wrong_is_said_with_the_files_name(path, labels, drop, says):
    with pytest.raises(DataError) as error:
        datasets.load_table(path, labels, drop=drop)
    assert str(error.value).startswith(f"{path}: {says}")


def test_a_text_label_is_no_label(path):
    with pytest.raises(DataError, match=r"t\.\w+, labels: column 'id' holds string, first in row 1, no numbers"):
        datasets.load_table(path, "id")


def test_a_missing_label_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,0\n2,\n3,1\n")
    with pytest.raises(DataError, match="label 'y' must be 0 or 1; got a missing value in data row 2"):
        datasets.load_table(tmp_path / "t.csv", "y")


def test_a_copy_of_a_label_and_a_constant_are_warned_of(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("copy,y,one\n1,1,1\n0,0,1\n1,1,1\n")
    with pytest.warns(FedSieveWarning) as caught:
        datasets.load_table(path, "y")
    assert [str(warning.message) for warning in caught] == [
        f"{path}: feature 'copy' equals label 'y' in every row: a label among the features?",
        f"{path}: feature 'one' is constant.",
    ]
    assert all(warning.filename == __file__ for warning in caught)


def test_repeated_names_are_numbered_and_warned_of(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b,a,y\n1,2,3,0\n4,5,7,1\n")
    with pytest.warns(FedSieveWarning, match="several columns are called 'a'; the later ones"):
        dataset = datasets.load_table(path, ["y"])
    assert dataset.feature_names == ("a", "b", "a.2")
    assert dataset.X[1, 2] == 7

"""The five real datasets, where FEDSIEVE_DATA names a folder with their files: read as they are meant."""

import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from fedsieve import datasets
from fedsieve.datasets.registry import known_dataset

HOME = Path(os.environ.get("FEDSIEVE_DATA", "")) / "mulan"
pytestmark = pytest.mark.skipif(not os.environ.get("FEDSIEVE_DATA"), reason="FEDSIEVE_DATA is not set")

# rows, features, labels, cardinality, split, features are 0/1 in a sparse file
TABLE = {
    "emotions": (593, 72, 6, 1.869, (391, 202), False),
    "yeast": (2417, 103, 14, 4.237, (1500, 917), False),
    "enron": (1702, 1001, 53, 3.378, (1123, 579), True),
    "corel5k": (5000, 499, 374, 3.522, (4500, 500), True),
    "cal500": (502, 68, 174, 26.044, None, False),
}
FULL = {name: f"{name}.arff" for name in TABLE} | {"corel5k": "Corel5k-sparse.arff"}


def by_hand(name: str, file: str) -> list[dict[str, float]]:
    """Rows of a file by attribute name, split at commas and blanks; good for these files only."""
    lines = [line.strip() for line in (HOME / name / file).read_text().splitlines() if line.strip()]
    names = [line.split()[1].strip("'\"") for line in lines if line.lower().startswith("@attribute")]
    rows = []
    for line in lines[[line.lower() for line in lines].index("@data") + 1 :]:
        if line.startswith("{"):
            row = dict.fromkeys(names, 0.0)
            row |= {names[int(pair.split()[0])]: float(pair.split()[1]) for pair in line.strip("{}").split(",")}
        else:
            row = dict(zip(names, map(float, line.split(",")), strict=True))
        rows.append(row)
    return rows


def table(data: datasets.Dataset) -> np.ndarray:
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    return np.hstack([X, data.Y])


@pytest.fixture(scope="module", params=TABLE)
def loaded(request):
    return datasets.load(request.param)


def test_shapes_cardinalities_and_splits(loaded):
    n_rows, n_features, n_labels, cardinality, split, is_sparse = TABLE[loaded.name]
    assert loaded.X.shape == (n_rows, n_features)
    assert loaded.Y.shape == (n_rows, n_labels)
    assert loaded.Y.sum(axis=1).mean() == pytest.approx(cardinality, abs=6e-4)
    assert set(np.unique(loaded.Y)) == {0, 1}
    assert sparse.issparse(loaded.X) == is_sparse
    assert (len(set(loaded.feature_names)), len(set(loaded.label_names))) == (n_features, n_labels)
    assert loaded.nominal == ()
    if split is None:
        assert loaded.train is None
        assert loaded.test is None
    else:
        assert (len(loaded.train), len(loaded.test)) == split
        assert_array_equal(np.concatenate([loaded.train, loaded.test]), np.arange(n_rows))


def test_labels_are_those_of_the_xml_in_its_order(loaded):
    root = ElementTree.parse(HOME / loaded.name / known_dataset(loaded.name).labels).getroot()
    assert loaded.label_names == tuple(element.get("name") for element in root)
    assert not set(loaded.label_names) & set(loaded.feature_names)


def test_every_value_of_train_and_test_lies_under_its_name(loaded):
    names = [*loaded.feature_names, *loaded.label_names]
    rows = [row for file in known_dataset(loaded.name).rows for row in by_hand(loaded.name, file)]
    expected = np.array([[row[name] for name in names] for row in rows])
    assert_array_equal(table(loaded), expected)


def test_train_and_test_together_are_the_full_file(loaded):
    names = [*loaded.feature_names, *loaded.label_names]
    rows = by_hand(loaded.name, FULL[loaded.name])
    full = np.array([[row[name] for name in names] for row in rows])
    ours = table(loaded)
    if loaded.name in ("yeast", "enron"):  # the same rows in another order
        assert not np.array_equal(ours, full)
        assert sorted(row.tobytes() for row in ours) == sorted(row.tobytes() for row in full)
    else:
        assert_array_equal(ours, full)


def test_the_full_file_can_be_read_by_path(loaded):
    path = HOME / loaded.name / FULL[loaded.name]
    data = datasets.load_arff(path, HOME / loaded.name / known_dataset(loaded.name).labels)
    assert data.label_names == loaded.label_names
    assert_array_equal(np.sort(data.Y.sum(axis=1)), np.sort(loaded.Y.sum(axis=1)))


@pytest.mark.parametrize(
    ("name", "first_labels"),
    [
        # The first row of yeast's train file ends in 0,0,1,1 and ten times 0 for Class1 to Class14. The third and
        # fourth label of its XML are Class3 and Class6.
        ("yeast", {"Class3", "Class4"}),
        # {...,1015 1,1050 1} ends the second row of enron's train file; see the header for what these are.
        ("enron", None),
    ],
)
def test_labels_whose_order_differs_between_xml_and_arff(name, first_labels):
    data = datasets.load(name)
    file = HOME / name / known_dataset(name).rows[0]
    header = [line.split()[1] for line in file.read_text().splitlines() if line.lower().startswith("@attribute")]
    in_arff = [column for column in header if column in data.label_names]
    assert in_arff != list(data.label_names)
    assert sorted(in_arff) == sorted(data.label_names)
    if first_labels is None:
        first_labels, row = {header[1015], header[1050]}, 1
    else:
        row = 0
    assert {label for label, has in zip(data.label_names, data.Y[row], strict=True) if has} == first_labels


def test_what_is_known_of_empty_labels():
    corel5k, enron = datasets.load("corel5k"), datasets.load("enron")
    assert (corel5k.Y[corel5k.train].sum(axis=0) == 0).sum() == 3
    assert (corel5k.Y[corel5k.test].sum(axis=0) == 0).sum() == 111
    assert (enron.Y[enron.train].sum(axis=0) == 0).sum() == 1


def test_nothing_looks_wrong_in_them(loaded):
    told = datasets.describe(loaded)
    assert told.findings == ()
    kinds = ("0/1",) if TABLE[loaded.name][-1] else ("continuous", "few-valued")
    assert sum(told.kinds[kind] for kind in kinds) == told.n_features
    assert told.missing == 0

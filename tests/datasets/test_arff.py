"""ARFF files of Mulan and MEKA, dense and sparse: labels by name, values as meant, problems by line number."""

import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from fedsieve import datasets
from fedsieve.datasets.arff import arff_dataset
from fedsieve.datasets.arff_file import level_values
from fedsieve.errors import DataError, FedSieveWarning, MissingExtraError

# In files as small as these a feature equals a label by chance.
pytestmark = pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")

DENSE = """% a comment
@RELATION patients

@ATTRIBUTE age NUMERIC
@attribute ill {0,1}
@attribute\t'blood type'\t{a, 'b c', "d"}
@attribute smoker {YES,NO}
@attribute old {0,1}
@data
30,1,a,NO,0

% another
80.5,0,'b c',YES,1
?,1,"d",?,1
"""
SPARSE = """@relation words
@attribute w0 {0,1}
@attribute y_b {0,1}
@attribute w1 {0,1}
@attribute y_a {0,1}
@attribute w2 {0,1}
@data
{0 1,3 1}
{}
{1 1, 2 1, 4 1}
{ 0 1,4 0 }
"""


@pytest.fixture
def write(tmp_path):
    def write(text, xml=None, name="data"):
        (tmp_path / f"{name}.arff").write_text(text, encoding="utf-8")
        if xml:
            names = "".join(f"<label name='{label}'/>" for label in xml)
            (tmp_path / f"{name}.xml").write_text(f"<labels>{names}</labels>", encoding="utf-8")
        return tmp_path / f"{name}.arff"

    return write


def complaint(path, labels=None, **options):
    with pytest.raises(DataError) as error:
        datasets.load_arff(path, labels, **options)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_dense_file(write):
    data = datasets.load_arff(write(DENSE, xml=["old", "ill"]))
    assert data.feature_names == ("age", "blood type", "smoker")
    assert data.label_names == ("old", "ill")  # in the order of the XML, each with its own column
    assert_array_equal(data.X, [[30, 0, 0], [80.5, 1, 1], [np.nan, 2, np.nan]])
    assert_array_equal(data.Y, [[0, 1], [1, 0], [1, 1]])
    assert data.nominal == ("blood type",)
    assert isinstance(data.X, np.ndarray)
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)
    assert (data.name, data.train, data.test) == ("data", None, None)


def test_a_sparse_file_stays_sparse(write):
    data = datasets.load_arff(write(SPARSE), labels="prefix:y_")
    assert sparse.issparse(data.X)
    assert data.X.format == "csr"
    assert_array_equal(data.X.toarray(), [[1, 0, 0], [0, 0, 0], [0, 1, 1], [1, 0, 0]])
    assert data.X.nnz == 4  # the 0 that was written down is not kept
    assert data.label_names == ("y_b", "y_a")
    assert_array_equal(data.Y, [[0, 1], [0, 0], [1, 0], [0, 0]])
    assert isinstance(data.Y, np.ndarray)


def test_what_a_sparse_file_leaves_out_is_the_first_value_of_a_nominal_attribute(write):
    head = "@relation r\n@attribute n numeric\n@attribute f {1,0}\n@attribute c {x,y,z}\n@attribute l {YES,NO}\n@data\n"
    data = datasets.load_arff(write(head + "{0 2.5}\n{1 0,3 NO}\n{2 z}\n{1 ?}\n"), labels=["l"])
    assert isinstance(data.X, np.ndarray)  # mostly ones: nothing to gain
    assert_array_equal(data.X, [[2.5, 1, 0], [0, 0, 0], [0, 1, 2], [0, np.nan, 0]])
    assert_array_equal(data.Y, [[1], [0], [1], [1]])
    assert data.nominal == ("c",)


def test_sparse_numbers_and_codes_whose_first_value_is_0_stay_sparse(write):
    head = "@relation r\n@attribute n numeric\n@attribute c {x,y,z}\n@attribute b {NO,YES}\n@attribute l {1,0}\n@data\n"
    data = datasets.load_arff(write(head + "{0 -2}\n{1 z,2 YES,3 0}\n{0 ?,1 y}\n"), labels="l")
    assert sparse.issparse(data.X)
    assert_array_equal(data.X.toarray(), [[-2, 0, 0], [0, 2, 1], [np.nan, 1, 0]])
    assert_array_equal(data.Y, [[1], [0], [1]])


@given(st.data())
def test_dense_and_sparse_files_with_the_same_values_give_the_same_table(tmp_path_factory, data):
    levels = data.draw(st.lists(st.permutations(["0", "1"]) | st.permutations(["no", "yes"]), min_size=2, max_size=4))
    codes = np.array(
        data.draw(st.lists(st.tuples(*(st.integers(0, 1) for _ in levels)), min_size=1, max_size=5)), dtype=int
    )
    head = "@relation r\n" + "".join(f"@attribute a{i} {{{','.join(pair)}}}\n" for i, pair in enumerate(levels))
    words = [[levels[i][code] for i, code in enumerate(row)] for row in codes]
    written = [
        "{" + ",".join(f"{i} {word}" for i, word in enumerate(row) if word != levels[i][0]) + "}" for row in words
    ]
    folder = tmp_path_factory.mktemp("arff")
    (folder / "dense.arff").write_text(head + "@data\n" + "\n".join(",".join(row) for row in words))
    (folder / "sparse.arff").write_text(head + "@data\n" + "\n".join(written))
    expected = np.array([[word in ("1", "yes") for word in row] for row in words], dtype=int)
    for name in ("dense.arff", "sparse.arff"):
        read = arff_dataset(folder / name, ["a1"])
        X = read.X.toarray() if sparse.issparse(read.X) else read.X
        assert_array_equal(X, np.delete(expected, 1, axis=1))
        assert_array_equal(read.Y, expected[:, [1]])


@pytest.mark.parametrize(
    ("levels", "values", "is_code"),
    [
        (["0", "1"], [0, 1], False),
        (["1", "0"], [1, 0], False),
        (["0.0", "1.0"], [0, 1], False),
        (["0"], [0], False),
        (["1"], [1], False),
        (["No", "YES"], [0, 1], False),
        (["y", "n"], [1, 0], False),
        (["TRUE", "FALSE"], [1, 0], False),
        (["f", "t"], [0, 1], False),
        (["t", "n"], [0, 1], True),
        (["1", "2"], [0, 1], True),
        (["-1", "1"], [0, 1], True),
        (["b", "a", "c"], [0, 1, 2], True),
    ],
)
def test_numbers_for_nominal_values(levels, values, is_code):
    got, coded = level_values(levels)
    assert_array_equal(got, values)
    assert coded is is_code


@pytest.mark.parametrize(
    ("option", "labels"),
    [("-C 2", ("age", "ill")), ("-C -1", ("old",)), ("-split-percentage 50 -C -2", ("smoker", "old"))],
)
def test_mekas_option_in_the_relation_name_counts_from_the_left_or_from_the_right(write, option, labels):
    text = DENSE.replace("RELATION patients", f"relation 'patients: {option}'")
    text = text.replace("30,", "0,").replace("80.5,", "1,").replace("?,1,", "1,1,").replace("?", "NO")
    assert datasets.load_arff(write(text)).label_names == labels
    assert datasets.load_arff(write(text, xml=["ill"])).label_names == ("ill",)  # the file beside it comes first
    assert datasets.load_arff(write(text), labels="smoker").label_names == ("smoker",)


@pytest.mark.parametrize("n_labels", [0, 5, -5, 60])
def test_mekas_option_must_leave_labels_and_features(write, n_labels):
    says = complaint(write(DENSE.replace("patients", f"'patients: -C {n_labels}'")))
    assert says == f"'-C {n_labels}' in the relation's name must leave labels and features; there are 5 attributes."


@pytest.mark.parametrize("relation", ["patients", "'patients-C 2'", "'-c 2'", "'p: -C two'"])
def test_without_a_word_about_labels_one_is_asked_for(write, relation):
    says = complaint(write(DENSE.replace("RELATION patients", f"relation {relation}")))
    assert says.startswith("which columns are labels? There is no data.xml beside it. Say labels=")


@pytest.mark.parametrize("labels", [["ill", "old"], ("ill", "old"), "ill,old"])
def test_labels_by_name(write, labels):
    assert datasets.load_arff(write(DENSE, xml=["smoker"]), labels).label_names == ("ill", "old")


def test_labels_of_another_file(write, tmp_path):
    path = write(DENSE)
    write("", xml=["old"], name="other")
    for labels in (tmp_path / "other.xml", str(tmp_path / "other.xml")):
        assert datasets.load_arff(str(path), labels).label_names == ("old",)


def test_names_with_commas_and_quotes(write):
    text = "@relation r\n@attribute 'it\\'s, well' {0,1}\n@attribute größe numeric\n@data\n0,1\n1,3\n"
    assert datasets.load_arff(write(text), ["it's, well"]).feature_names == ("größe",)


def test_columns_can_be_left_out(write):
    text = DENSE.replace("age NUMERIC", "age string").replace("30,", "'thirty, or so',")
    assert complaint(write(text), "ill").startswith(
        "attribute 'age' holds text, no numbers. Leave it out: drop=['age']"
    )
    data = datasets.load_arff(write(text), "ill", drop=["age", "smoker"])
    assert data.feature_names == ("blood type", "old")
    assert_array_equal(data.X, [[0, 0], [1, 1], [2, 1]])
    assert complaint(write(DENSE), "ill", drop=["ill"]) == "the column 'ill' cannot be a label and dropped."
    assert complaint(write(DENSE), "ill", drop=["Age"]).startswith("has no column 'Age' to drop; columns: 'age', 'ill'")
    assert complaint(write(DENSE), "ill,old", drop=["age", "blood type", "smoker"]).startswith(
        "all 5 columns are labels"
    )


def test_text_can_be_left_out_of_a_sparse_file(write):
    text = SPARSE.replace("w0 {0,1}", "w0 string").replace("0 1,3 1", "0 'a word',3 1")
    data = datasets.load_arff(write(text), "prefix:y_", drop=["w0"])
    assert_array_equal(data.X.toarray(), [[0, 0], [0, 0], [1, 1], [0, 0]])
    assert_array_equal(data.Y, [[0, 1], [0, 0], [1, 0], [0, 0]])


def test_decimals_of_an_integer_attribute_are_kept(write):
    data = datasets.load_arff(write(DENSE.replace("age NUMERIC", "age\tInteger  ")), "ill,old")
    assert_array_equal(data.X[:, 0], [30, 80.5, np.nan])


def test_a_label_that_the_file_does_not_have_is_named(write):
    says = complaint(write(DENSE, xml=["ill", "dead", "old"]))
    assert says.startswith("no label column 'dead' among the columns 'age', 'ill', 'blood type'")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("30,1,a,NO,0", "30,1,a,NO,0,1", "line 10: has 6 values, the header declares 5 attributes."),
        ("80.5,0,'b c'", "80.5,0,7,'b, %c'", "line 13: has 6 values, the header declares 5 attributes."),
        ("30,1,a,NO,0", "30,1,a,NO", "line 10: has 4 values, the header declares 5 attributes."),
        ("30,1", "thirty,1", "line 10: has text where the header declares a number."),
        ("30,1", "30,2", "line 10: a value is none of those that the header declares for its attribute."),
        ("30,1", "30,'1", "line 10: is no ARFF."),
        ("30,1,a", "30,1,'\\q'", "line 10: is no ARFF."),
        ("age NUMERIC", "age DATE", "line 4: '@ATTRIBUTE age DATE' must be like @attribute NAME numeric, or NAME {"),
        ("age NUMERIC", "", "line 4: "),
        ("RELATION patients", "RELATION two words", "line 2: a relation's name with blanks or commas needs quotes: "),
        ("RELATION patients", "RELATION", "line 2: is no ARFF: "),
        ("@data", "@values", "has no line @data after @relation and @attribute lines, so it is no ARFF file."),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, old, new, says):
    assert old in DENSE
    assert complaint(write(DENSE.replace(old, new)), "ill").startswith(says)


def test_a_sparse_row_that_names_too_much(write):
    says = complaint(write(SPARSE.replace("2 1, 4 1}", "2 1, 5 1}")), "prefix:y_")
    assert says == "line 10: names an attribute beyond the last one, 4 (counted from 0)."


def test_a_dense_row_among_sparse_ones(write):
    assert complaint(write(SPARSE.replace("{}", "0,1,0,0,0")), "prefix:y_") == "line 9: is no ARFF."


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("30,1,", "30,?,", "label 'ill' must be 0 or 1; got a missing value in data row 1."),
        ("ill {0,1}", "ill numeric", None),
        ("80.5,0,", "80.5,2,", "label 'ill' must be 0 or 1; got another number in data row 2."),
        (
            "ill {0,1}",
            "ill {0,1,2}",
            "label 'ill' must be 0 or 1 (or no/yes, false/true); its values are '0', '1', '2'.",
        ),
    ],
)
def test_labels_are_0_or_1(write, old, new, says):
    numeric = DENSE if "ill {" in old else DENSE.replace("ill {0,1}", "ill numeric")
    path = write(numeric.replace(old, new))
    if says is None:
        assert_array_equal(datasets.load_arff(path, "ill").Y.ravel(), [1, 0, 1])
    else:
        assert complaint(path, "ill") == says


def test_a_file_without_rows_or_without_text(write, tmp_path):
    assert complaint(write(DENSE.partition("@data")[0] + "@data\n% none\n"), "ill") == "has a header but no rows."
    assert complaint(write(""), "ill").startswith("has no line @data")
    assert complaint(tmp_path / "no.arff", "ill") == "cannot be read: No such file or directory."
    (tmp_path / "latin.arff").write_bytes(DENSE.replace("age", "größe").encode("latin-1"))
    assert complaint(tmp_path / "latin.arff", "ill").startswith("is no UTF-8 text (byte 0xf6). Convert it")


def test_a_byte_order_mark_and_windows_line_ends(write):
    data = datasets.load_arff(write("\ufeff" + DENSE.replace("\n", "\r\n")), "ill,old")
    assert data.X.shape == (3, 3)


def test_a_label_among_the_features_and_constant_features_are_warned_of(write):
    rows = "@data\n0,3,0\n1,3,1\n1,3,1\n"
    text = "@relation r\n@attribute copy {0,1}\n@attribute three numeric\n@attribute ill {0,1}\n" + rows
    with pytest.warns(FedSieveWarning) as caught:
        datasets.load_arff(path := write(text), "ill")
    assert [str(warning.message) for warning in caught] == [
        f"{path}: feature 'copy' equals label 'ill' in every row: a label among the features?",
        f"{path}: feature 'three' is constant.",
    ]
    assert all(warning.filename == __file__ for warning in caught)


def test_the_package_that_hides_liac_arff_is_found_out(write, monkeypatch):
    other = types.ModuleType("arff")
    other.load = other.loads = lambda *_: None
    other.__file__ = "/somewhere/arff/__init__.py"
    monkeypatch.setitem(sys.modules, "arff", other)
    with pytest.raises(
        MissingExtraError, match=r"'liac-arff', but another package .*/somewhere/arff.*pip uninstall arff"
    ):
        datasets.load_arff(write(DENSE), "ill")


def test_the_missing_package_is_named_with_its_extra(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(MissingExtraError, match=r"'liac-arff'\. Install it with: pip install \"fedsieve\[data\]\""):
        datasets.load_arff(write(DENSE), "ill")


def test_repeated_names_are_numbered_and_warned_of(tmp_path):
    path = tmp_path / "twice.arff"
    attributes = ["a numeric", "'b c' numeric", "a numeric", "'b c' integer", '"a" numeric', "y {0,1}"]
    header = "\n".join(f"@attribute {attribute}" for attribute in attributes)
    path.write_text(f"@relation t\n{header}\n@data\n1,2,3,4,5,0\n6,7,8,9,10,1\n")
    with pytest.warns(FedSieveWarning, match=r"several columns are called 'a', 'b c'; the later ones are now NAME\.2"):
        dataset = datasets.load_arff(path, ["y"])
    assert dataset.feature_names == ("a", "b c", "a.2", "b c.2", "a.3")
    assert_array_equal(dataset.X[0], [1, 2, 3, 4, 5])


@pytest.mark.parametrize("declared", ["{0,1,}", "{,0,1}", "{0,,1}", "{0, ,1}", "{?,1}", "{,1}"])
@pytest.mark.parametrize("rows", ["2,1\n", "{0 2,1 1}\n"])
def test_an_empty_place_among_declared_values_is_named(tmp_path, declared, rows):
    path = tmp_path / "x.arff"
    head = f"% a comment\n@relation r\n@attribute size numeric\n@attribute ill {declared}\n"
    path.write_text(f"{head}@data\n{rows}")
    assert complaint(path, "ill").startswith("line 4: declares an empty value or '?', which means a missing one: ")


def test_a_number_of_labels_with_thousands_of_digits_is_none(tmp_path):
    path = tmp_path / "x.arff"
    path.write_text(f"@relation 'r: -C {'9' * 5000}'\n@attribute a {{0,1}}\n@attribute b numeric\n@data\n0,1\n")
    with pytest.raises(DataError, match="which columns are labels"):
        datasets.load_arff(path)

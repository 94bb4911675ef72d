"""Which columns are labels: a list, a prefix, or a Mulan label file."""

import pytest

from fedsieve.datasets.columns import label_columns, labels_of_xml
from fedsieve.errors import DataError

COLUMNS = ["age", "y_b", "dose", "y_a", "y"]

MULAN = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
  <label name="y_a"><label name="y"/></label>
  <label name="y_b"></label>
</labels>
"""


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("y_a,y_b", ["y_a", "y_b"]),
        (" y_b , y_a,", ["y_b", "y_a"]),
        ("y,y_a,y", ["y", "y_a"]),
        ("y", ["y"]),
        ("prefix:y_", ["y_b", "y_a"]),
        ("prefix:y", ["y_b", "y_a", "y"]),
    ],
)
def test_a_list_keeps_its_order_and_a_prefix_that_of_the_table(spec, expected):
    assert label_columns(spec, COLUMNS) == expected


def test_a_label_file_names_nested_labels_in_document_order(tmp_path):
    (tmp_path / "labels.XML").write_text(MULAN)
    assert label_columns(str(tmp_path / "labels.XML"), COLUMNS) == ["y_a", "y", "y_b"]


def test_a_label_file_without_namespace_and_with_a_repeated_label(tmp_path):
    (tmp_path / "labels.xml").write_text("<labels><label name='y'/><label name='y'/><other name='age'/></labels>")
    assert labels_of_xml(tmp_path / "labels.xml") == ["y"]


def test_a_label_file_may_declare_another_encoding(tmp_path):
    text = '<?xml version="1.0" encoding="iso-8859-1"?><labels><label name="größe"/></labels>'
    (tmp_path / "labels.xml").write_bytes(text.encode("latin-1"))
    assert labels_of_xml(tmp_path / "labels.xml") == ["größe"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<labels><label name='y'>",
        "label y",
        "<?xml version='1.0' encoding='utf-7'?><labels/>",
        "<?xml version='1.0' encoding='klingon'?><labels/>",
        "<!DOCTYPE x [<!ENTITY e 'y'>]><labels><label name='&e;'/></labels>",  # entities can explode
    ],
)
def test_a_file_that_is_no_label_file(tmp_path, text):
    (tmp_path / "labels.xml").write_text(text)
    with pytest.raises(DataError, match=r"labels\.xml: is no valid XML: "):
        labels_of_xml(tmp_path / "labels.xml")


@pytest.mark.parametrize(
    ("text", "says"),
    [("<labels><label/></labels>", "has a label without a name"), ("<labels/>", "names no label")],
)
def test_a_label_file_without_names(tmp_path, text, says):
    (tmp_path / "labels.xml").write_text(text)
    with pytest.raises(DataError, match=says):
        labels_of_xml(tmp_path / "labels.xml")


def test_an_absent_label_file(tmp_path):
    with pytest.raises(DataError, match=r"no\.xml: cannot be read: No such file or directory\."):
        label_columns(str(tmp_path / "no.xml"), COLUMNS)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("y_a,y_c,Y", "no label column 'y_c', 'Y' among the columns 'age', 'y_b', 'dose', 'y_a', 'y'"),
        ("", "no label column was named"),
        (",", "no label column was named"),
        ("prefix:", "no column starts with ''"),
        ("prefix:z", "no column starts with 'z', so there is no label column; columns: 'age'"),
    ],
)
def test_labels_that_are_not_there(spec, says):
    with pytest.raises(DataError) as error:
        label_columns(spec, COLUMNS)
    assert str(error.value).startswith(says)

"""How text files are written: found, said, or refused with the option to type."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.datasets.dialect import Dialect, Reading
from fedsieve.datasets.table_files import read_file, write_file
from fedsieve.datasets.tables import numeric_columns, read_table, table_file
from fedsieve.errors import DataError, ParameterError

CANARY = "SECRET-7731"


@pytest.fixture
def read(tmp_path):
    """Write some text as a file, and read it."""

    def call(text: str | bytes, name: str = "t.csv", **how: str):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return table_file(tmp_path / name, reading=Reading(**how))

    return call


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("größe,b\n1.5,x\n2.5,y\n", ""),
        ("größe;b\n1,5;x\n2,5;y\n", "sep ';', decimal ',', utf-8"),
        ("größe;b\n1.5;x\n2.5;y\n", "sep ';', decimal '.', utf-8"),
        ("größe\tb\n1.5\tx\n2.5\ty\n", "sep 'tab', decimal '.', utf-8"),
        ("größe|b\n1.5|x\n2.5|y\n", "sep '|', decimal '.', utf-8"),
        ('größe,b\n"1,5",x\n"2,5",y\n', "sep ',', decimal ',', utf-8"),
        ("größe;b\n1,5;x\n2,5;y\n".encode("latin-1"), "sep ';', decimal ',', latin-1"),
        ("größe;b\n1,5;x €\n2,5;y\n".encode("cp1252"), "sep ';', decimal ',', cp1252"),
        ("größe;b\n1,5;x\n2,5;y\n".encode("utf-16"), "sep ';', decimal ',', utf-16"),
    ],
)
def test_the_same_table_however_it_is_written(read, name, text, how):
    found = read(text, name)
    assert found.how == how
    assert found.table.column_names == ["größe", "b"]
    assert_array_equal(numeric_columns(found.table, ["größe"], "t"), [[1.5], [2.5]])


@pytest.mark.parametrize("name", ["t.tsv", "T.TSV", "t.tsv.gz"])
def test_tabs_are_what_a_tsv_has(read, name):
    found = read("a;1\tb\n1\t2\n", name)
    assert (found.table.column_names, found.how) == (["a;1", "b"], "")


def test_a_sign_within_quotes_separates_nothing(read):
    assert read('"a;x","b;y"\n1,2\n').table.column_names == ["a;x", "b;y"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b;c,d\n1,2;3,4\n", "its columns could be separated by ',' or ';'. Say which: --sep."),
        (
            "a;b\n1,234;x\n5,678;y\n",
            "has numbers with a comma before three digits, first in row 1, column 'a': decimals, or thousands? Say "
            "--decimal ',' or --decimal '.'.",
        ),
    ],
)
def test_what_could_mean_two_things_is_refused(read, text, says):
    with pytest.raises(DataError) as error:
        read(text)
    assert str(error.value).endswith(f"t.csv: {says}")


def test_the_options_decide(read):
    thousands = read("a;b\n1,234;x\n5,678;y\n", decimal=".").table
    assert_array_equal(numeric_columns(thousands, ["a"], "t"), [[1234], [5678]])
    decimals = read("a;b\n1,234;x\n5,678;y\n", decimal=",").table
    assert_array_equal(numeric_columns(decimals, ["a"], "t"), [[1.234], [5.678]])
    grouped = read("a;b\n1.234,5;x\n2;y\n", decimal=",").table
    assert_array_equal(numeric_columns(grouped, ["a"], "t"), [[1234.5], [2]])
    assert read("a,b;c,d\n1,2;3,4\n", sep=";").table.column_names == ["a,b", "c,d"]
    assert read("größe,b\n1,2\n".encode("cp1250"), encoding="cp1250").table.column_names == ["größe", "b"]
    assert read("a;b\n0,125;x\n5,678;y\n").how == "sep ';', decimal ',', utf-8"  # no thousands begin with 0


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"sep": ";;"}, "--sep must be one character, or tab; got ';;'."),
        ({"decimal": ":"}, "--decimal must be '.' or ','; got ':'."),
        ({"encoding": "klingon"}, "--encoding must be one that Python knows, such as utf-8 or latin-1; got 'klingon'."),
    ],
)
def test_options_that_no_file_can_have(how, says):
    with pytest.raises(ParameterError) as error:
        Reading(**how)
    assert str(error.value) == says


def test_an_index_is_left_out_and_said(read):
    for header in ("", "Unnamed: 0"):
        found = read(f"{header},a\n0,5\n1,6\n")
        assert found.table.column_names == ["a"]
        assert found.how.endswith("as the index, left out")
    assert read("nr,a\n0,5\n", index_col="nr").table.column_names == ["a"]
    assert read("nr,a\n0,5\n", index_col="1").table.column_names == ["nr"]
    with pytest.raises(DataError, match="--index-col names no column; got 'x', columns: 'nr', 'a'"):
        read("nr,a\n0,5\n", index_col="x")


def test_a_separator_at_the_end_of_each_line_makes_no_column(read):
    assert read("a,b,\n1,2,\n").table.column_names == ["a", "b"]


def test_a_column_is_judged_by_all_its_rows(read):
    """Not by the first block of them, and the cell that does not fit is not shown."""
    text = "a,b\n" + "1,2\n" * 400_000
    late = read(text + "1.5,2\n").table
    assert numeric_columns(late, ["a"], "t")[-1, 0] == 1.5
    with pytest.raises(DataError) as error:
        numeric_columns(read(f"{text}{CANARY},2\n").table, ["a"], "t.csv")
    assert "column 'a' holds string, first in row 400001" in str(error.value)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"\x1f\x8b\x08 no gzip", "t.csv.gz", "cannot be unpacked: it is cut, or no gzip file."),
        (gzip.compress(b"a,b\n1,2\n" * 100, mtime=0)[:20], "t.csv.gz", "cannot be unpacked"),
    ],
)
def test_damaged_files(tmp_path, data, name, says):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=says):
        read_table(tmp_path / name)


def test_a_wrong_encoding_shows_nothing(tmp_path):
    (tmp_path / "t.csv").write_bytes(f"a,b\n1,{CANARY}ß\n".encode("latin-1"))
    with pytest.raises(DataError) as error:
        read_file(tmp_path / "t.csv", Reading(encoding="utf-8"))
    assert "--encoding" in str(error.value)
    assert CANARY not in str(error.value)


@settings(max_examples=40, deadline=None)
@given(
    numbers=st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=2, max_size=6),
    words=st.lists(st.sampled_from(["a", "b;c", "d,e", 'f"g', "h\ti", "ü", "-"]), min_size=6, max_size=6),
    dialect=st.builds(Dialect, st.sampled_from(",;|"), st.sampled_from(".,"), st.sampled_from(["utf-8", "latin-1"])),
    ending=st.sampled_from([".csv", ".csv.gz", ".tsv"]),
)
def test_what_is_written_is_read_again(tmp_path_factory, numbers, words, dialect, ending):
    table = pa.table({"x": pa.array(numbers, pa.float64()), "word": words[: len(numbers)]})
    file = tmp_path_factory.mktemp("again") / f"t{ending}"
    write_file(table, file, dialect)
    sep = dialect.for_ending(ending).sep
    again = read_table(file, reading=Reading(sep=sep, decimal=dialect.decimal, encoding=dialect.encoding))
    assert again["word"].to_pylist() == table["word"].to_pylist()
    assert_array_equal(numeric_columns(again, ["x"], "t")[:, 0], np.array(numbers, dtype=np.float64))

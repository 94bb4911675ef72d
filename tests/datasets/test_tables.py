"""Tables on disk: read with every problem named, written whole or not at all."""

import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv, parquet

from fedsieve.datasets import table_files, tables
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streams import open_stream
from fedsieve.errors import DataError
from fedsieve.files import write_atomically, write_together

ENDINGS = "'.csv', '.csv.gz', '.tsv', '.tsv.gz', '.parquet', '.xlsx'"


def test_csv_and_parquet_are_read_alike(tmp_path):
    table = pa.table({"a": [1, 2, None], "größe": [0.5, 1.5, 2.5]})
    for name in ("t.csv", "T.CSV", "t.parquet"):
        table_files.write_file(table, tmp_path / name)
        read = tables.read_table(str(tmp_path / name))
        assert read.column_names == ["a", "größe"]
        assert_array_equal(tables.numeric_columns(read, ["größe", "a"], "t"), [[0.5, 1], [1.5, 2], [2.5, np.nan]])


@pytest.mark.parametrize("gap", ["", "NA", "NaN", "null", "N/A"])
def test_gaps_in_csv_are_missing_values(tmp_path, gap):
    (tmp_path / "t.csv").write_text(f"a,b\n1,2\n{gap},3\n")
    table = tables.read_table(tmp_path / "t.csv")
    assert_array_equal(tables.numeric_columns(table, ["a", "b"], "t"), [[1, 2], [np.nan, 3]])


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    assert tables.read_table(tmp_path / "t.csv").column_names == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "t.txt",
            b"a\n1\n",
            f"the ending must be one of {ENDINGS}; got '.txt'",
        ),
        ("t", b"a\n1\n", f"the ending must be one of {ENDINGS}; got ''"),
        ("t.csv", b"", "cannot be read as CSV"),
        ("t.csv", b"a,b\n", "has a header but no rows"),
        ("t.csv", b"a,b\n1\n", "cannot be read as CSV"),
        ("t.csv", b"b,a,b,a,c\n1,2,3,4,5\n", "of the column names 'a', 'b' occur twice"),
        ("t.parquet", b"PAR1 not really PAR1", "cannot be read as PARQUET"),
    ],
)
def test_a_file_that_is_no_table_is_named_with_the_reason(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        tables.read_table(tmp_path / name)
    assert str(error.value).startswith(f"{tmp_path / name}: {says}")


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="has a header but no rows"):
        tables.read_table(tmp_path / "t.parquet")


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nope\.csv: no such file\."):
        tables.read_table(tmp_path / "nope.csv")


def test_all_kinds_of_numbers_become_doubles():
    table = pa.table(
        {
            "bool": pa.array([True, False, None]),
            "int": pa.array([1, None, 3], pa.int8()),
            "unsigned": pa.array([1, 2, 2**53], pa.uint64()),
            "float": pa.array([0.5, None, float("inf")], pa.float32()),
            "null": pa.nulls(3),
        }
    )
    values = tables.numeric_columns(table, table.column_names, "t")
    assert values.dtype == np.float64
    expected = [[1, 1, 1, 0.5, np.nan], [0, np.nan, 2, np.nan, np.nan], [np.nan, 3, 2**53, np.inf, np.nan]]
    assert_array_equal(values, expected)


def test_columns_in_several_chunks_are_read_whole():
    table = pa.concat_tables([pa.table({"a": [1, 2]}), pa.table({"a": [3]})])
    assert_array_equal(tables.numeric_columns(table, ["a"], "t"), [[1], [2], [3]])


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array([None, "red"]), "column 'x' holds string, first in row 2, no numbers"),
        (pa.array(["7.5", "Smith"]), "column 'x' holds string, first in row 2, no numbers"),
        (pa.array([b"a", b"b"]), "column 'x' holds binary, first in row 1, no numbers"),
        (pa.array([[1], [2]]), "column 'x' holds list"),
        (pa.array([0, 1], pa.timestamp("s")), "column 'x' holds timestamp"),
    ],
)
def test_a_column_without_numbers_is_named(column, says):
    with pytest.raises(DataError) as error:
        tables.numeric_columns(pa.table({"a": [1, 2], "x": column}), ["a", "x"], "site.csv")
    assert str(error.value).startswith(f"site.csv: {says}")


@pytest.mark.parametrize("row", ["62,Smith", "62,Smith,1,7"])
def test_a_torn_row_is_named_by_its_line_and_not_shown(tmp_path, row):
    """Its values are a person's, and messages end in logs and tickets."""
    file = tmp_path / "t.csv"
    file.write_text(f"age,name,x\n1,2,3\n4,5,6\n{row}\n7,8,9\n")
    with pytest.raises(DataError) as error:
        tables.read_table(file)
    assert f"line 4 has {row.count(',') + 1} fields, the first line 3" in str(error.value)
    assert "Smith" not in str(error.value)


def test_no_thread_of_pyarrow_is_left_with_a_python_object(tmp_path, monkeypatch):
    """One that dropped the last reference to a handler while Python ended aborted the process."""
    handlers = []

    def watched(read):
        def reading(file, options, parsing, converting):
            handlers.append(parsing.invalid_row_handler)
            return read(file, options, parsing, converting)

        return reading

    monkeypatch.setattr(csv, "read_csv", watched(csv.read_csv))
    monkeypatch.setattr(csv, "open_csv", watched(csv.open_csv))
    good, torn = tmp_path / "good.csv", tmp_path / "torn.csv"
    good.write_text("a,b\n1,2\n")
    torn.write_text("a,b\n1,2\n1,2,3\n")
    tables.read_table(good)
    open_stream(good, Reading())
    for read in (tables.read_table, lambda file: open_stream(file, Reading())):
        with pytest.raises(DataError, match="line 3 has 3 fields, the first line 2"):
            read(torn)
    assert handlers == [None] * 5  # a torn file is read once more, for the number of its line


def test_what_a_format_cannot_hold_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(DataError, match="cannot be written as CSV"):
        table_files.write_file(pa.table({"x": [[1], [2]]}), tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_middle_of_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def half(file: Path) -> None:
        file.write_text("ne")
        raise RuntimeError("lightning")

    with pytest.raises(RuntimeError, match="lightning"):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_error_is_a_message_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise PermissionError(errno.EACCES, "something long from a library")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(DataError) as error:
        write_atomically(path, lambda file: file.write_text("new"))
    assert str(error.value) == f"{path}: cannot be written: Permission denied."
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_several_files_are_put_in_place_only_when_all_are_complete(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("old")

    def fail(_: Path) -> None:
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(DataError, match="two: cannot be written: No space left on device"):
        write_together({one: lambda file: file.write_text("new"), two: fail})
    assert one.read_text() == "old"
    assert list(tmp_path.iterdir()) == [one]
    write_together({path: lambda file: file.write_text("new") for path in (one, two)})
    assert [one.read_text(), two.read_text()] == ["new", "new"]


def test_the_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError) as error:
        table_files.write_file(pa.table({"a": [1]}), tmp_path / "no" / "t.csv")
    assert (
        str(error.value) == f"{tmp_path / 'no' / 't.csv'}: cannot be written: there is no folder '{tmp_path / 'no'}'."
    )

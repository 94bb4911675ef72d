"""Spreadsheets: read as other tables are, and written back."""

import sys
from datetime import datetime

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.table_files import write_file
from fedsieve.datasets.tables import read_table, table_file
from fedsieve.errors import DataError, MissingExtraError


@pytest.fixture
def book(tmp_path):
    file = tmp_path / "t.xlsx"
    with pd.ExcelWriter(file) as writer:
        rows = {
            "age": [30, None, 41.5],
            "sex": ["f", "NA", " m"],
            "old": [True, False, True],
            "mixed": [1, "x", None],
            "seen": [datetime(2020, 1, 31), None, datetime(2020, 2, 1)],
        }
        pd.DataFrame(rows).to_excel(writer, sheet_name="rows", index=False)
        pd.DataFrame({"note": ["by hand"]}).to_excel(writer, sheet_name="notes")
    return file


def test_a_sheet_becomes_columns_of_their_kinds(book):
    found = table_file(book)
    assert found.how == "sheet 'rows', the first of 2"
    assert found.table.to_pydict() == {
        "age": [30, None, 41.5],
        "sex": ["f", None, "m"],
        "old": [True, False, True],
        "mixed": ["1", "x", None],
        "seen": [datetime(2020, 1, 31), None, datetime(2020, 2, 1)],
    }


def test_a_sheet_can_be_chosen(book):
    found = table_file(book, reading=Reading(sheet="notes"))
    assert found.table.to_pydict() == {"note": ["by hand"]}
    with pytest.raises(DataError, match=r"has no sheet 'no'; sheets: 'rows', 'notes'\."):
        read_table(book, reading=Reading(sheet="no"))


def test_what_failed_in_a_sheet_is_missing(tmp_path):
    sheets = openpyxl.Workbook()
    for row in (("a", "b"), (1, "#N/A"), (2, "#DIV/0!"), (None, None)):
        sheets.active.append(row)
    sheets.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").to_pydict() == {"a": [1, 2], "b": [None, None]}


def test_written_and_read_again(tmp_path):
    table = pa.table({"x": [1.5, None], "word": ["=1+1", "ü"], "day": [datetime(2020, 1, 31), None]})
    write_file(table, tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").to_pydict() == table.to_pydict()  # "=1+1" is no formula


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut", b"a,b\n1,2\n"])
def test_what_is_no_spreadsheet(tmp_path, data):
    (tmp_path / "t.xlsx").write_bytes(data)
    with pytest.raises(DataError, match="cannot be read as XLSX"):
        read_table(tmp_path / "t.xlsx")


def test_an_empty_sheet(tmp_path):
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="sheet 'Sheet' is empty"):
        read_table(tmp_path / "t.xlsx")


def test_the_extra_is_named_where_it_is_missing(book, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r'pip install "fedsieve\[excel\]"'):
        read_table(book)

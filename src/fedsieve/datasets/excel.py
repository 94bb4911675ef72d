"""Spreadsheets (.xlsx): one sheet as columns of numbers, text, booleans or dates, and back."""

import warnings
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

from fedsieve.errors import DataError, extra_needed, listed

NO_VALUE = {"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"}
FAILED = {"#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"}


def read_sheet(file: Path, sheet: str | None) -> tuple[list[tuple[str, list[Any]]], str]:
    """The columns of a sheet, the first one unless one is named, and which it was where others are there too."""
    openpyxl = _openpyxl()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles, which nobody reads here
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            names = [one.title for one in book.worksheets]
            if sheet is not None and sheet not in names:
                raise DataError(f"{file}: has no sheet {sheet!r}; sheets: {listed(names)}.")
            page = book[sheet] if sheet is not None else book.worksheets[0]
            rows = [row for row in page.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, IndexError, OSError, SyntaxError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{file}: cannot be read as XLSX: it is cut or damaged, or something else.") from None
    if not rows:
        raise DataError(f"{file}: sheet {page.title!r} is empty.")
    width = max(len(row) for row in rows)
    header, *cells = ([*row, *[None] * (width - len(row))] for row in rows)
    titles = ["" if title is None else str(title).strip() for title in header]
    columns = [[_value(row[place]) for row in cells] for place in range(width)]
    which = f"sheet {page.title!r}, the first of {len(names)}" if sheet is None and len(names) > 1 else ""
    return list(zip(titles, columns, strict=True)), which


def write_sheet(names: list[str], rows: list[tuple[Any, ...]], path: Path) -> None:
    """One sheet with a header. Text that begins with "=" stays text."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("Sheet1")
    for row in (names, *rows):
        page.append([_cell(page, value) for value in row])
    with path.open("wb") as stream:
        book.save(stream)


def _cell(page: Any, value: Any) -> Any:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)  # a sheet knows no zones
    if not isinstance(value, str):
        return value
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(page, value)
    cell.data_type = "s"
    return cell


def _value(cell: Any) -> Any:
    if isinstance(cell, str):
        text = cell.strip()
        return None if text in NO_VALUE | FAILED else text
    return cell if isinstance(cell, bool | int | float | date | None) else str(cell)


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise extra_needed("reading and writing .xlsx", "openpyxl", "excel") from None
    return openpyxl

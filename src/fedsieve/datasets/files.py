"""Tables on disk, CSV or Parquet: read with every problem named, written whole or not at all."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError, extra_needed, listed

SUFFIXES = (".csv", ".parquet")


def read_table(path: str | Path) -> Any:
    """The file as a pyarrow table with at least one row and distinct column names."""
    file = Path(path)
    suffix = check_suffix(file)
    if not file.is_file():
        raise DataError(f"{file}: no such file.")
    csv, parquet, arrow = _arrow()
    try:
        table = csv.read_csv(file) if suffix == ".csv" else parquet.read_table(file)
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as {suffix[1:].upper()}: {error}") from None
    names = table.column_names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"{file}: the column names {listed(twice)} occur twice. Rename them.")
    if not table.num_rows:
        raise DataError(f"{file}: has a header but no rows.")
    return table


def numeric_columns(table: Any, columns: Sequence[str], owner: str) -> Float:
    """Columns of a pyarrow table as float64, (n_rows, n_columns), NaN where a value is missing."""
    _, _, arrow = _arrow()
    values = np.empty((table.num_rows, len(columns)))
    for index, name in enumerate(columns):
        column = table.column(name)
        kind = column.type
        if arrow.types.is_null(kind):
            values[:, index] = np.nan
        elif arrow.types.is_boolean(kind) or arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
            values[:, index] = column.to_numpy()
        else:
            example = next((value for value in column.to_pylist() if value is not None), None)
            raise DataError(
                f"{owner}: column {name!r} holds {kind} such as {example!r}, no numbers. Encode it or leave it out."
            )
    return values


def write_table(table: Any, path: str | Path) -> None:
    """Write a pyarrow table as CSV or Parquet, by the file's ending; a failure leaves no file behind."""
    file = Path(path)
    csv, parquet, _ = _arrow()
    write = csv.write_csv if check_suffix(file) == ".csv" else parquet.write_table
    write_atomically(file, lambda temporary: write(table, temporary))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_suffix(path: Path) -> str:
    """The ending that decides the format."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{path}: the ending must be one of {listed(SUFFIXES)}; got {suffix!r}.")
    return suffix


def _arrow() -> tuple[Any, Any, Any]:
    try:
        import pyarrow
        from pyarrow import csv, parquet
    except ImportError:
        raise extra_needed("reading and writing tables", "pyarrow", "data") from None
    return csv, parquet, pyarrow

"""Tables on disk, CSV or Parquet: read with every problem named, written whole or not at all."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.datasets.unique_names import claim, warn_of_repeated
from fedsieve.errors import DataError, extra_needed, listed
from fedsieve.files import write_atomically

SUFFIXES = (".csv", ".parquet")


def read_table(path: str | Path, *, number_repeated: bool = False) -> Any:
    """The file as a pyarrow table with at least one row and distinct column names.

    Repeated names are refused, since sites match columns by name; or, on demand, numbered with a warning.
    """
    file = Path(path)
    suffix = check_suffix(file)
    if not file.is_file():
        raise DataError(f"{file}: no such file.")
    csv, parquet, arrow = _arrow()
    try:
        table = csv.read_csv(file) if suffix == ".csv" else parquet.read_table(file)
        names = table.column_names  # decoded only now
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as {suffix[1:].upper()}: {error}") from None
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        if number_repeated:
            warn_of_repeated(str(file), twice)
            used: set[str] = set()
            table = table.rename_columns([claim(name, used) for name in names])
        else:
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
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)  # a categorical column is as good as its values
        kind = column.type
        if arrow.types.is_null(kind):
            values[:, index] = np.nan
        elif any(is_kind(kind) for is_kind in _numbers(arrow)):
            values[:, index] = column.cast(arrow.float64(), safe=False).to_numpy()
        else:
            example = next((value for value in column.to_pylist() if value is not None), None)
            raise DataError(
                f"{owner}: column {name!r} holds {kind} such as {example!r}, no numbers. Encode it or leave it out."
            )
    return values


def write_table(table: Any, path: str | Path) -> None:
    """Write a pyarrow table as CSV or Parquet, by the file's ending; a failure leaves no file behind."""
    file = Path(path)
    suffix = check_suffix(file)
    csv, parquet, arrow = _arrow()
    write = csv.write_csv if suffix == ".csv" else parquet.write_table
    try:
        write_atomically(file, lambda temporary: write(table, temporary))
    except arrow.ArrowException as error:
        raise DataError(f"{file}: cannot be written as {suffix[1:].upper()}: {error}") from None


def check_suffix(path: Path) -> str:
    """The ending that decides the format."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(f"{path}: the ending must be one of {listed(SUFFIXES)}; got {suffix!r}.")
    return suffix


def _numbers(arrow: Any) -> tuple[Callable[[Any], bool], ...]:
    """The column types that are numbers; true and false count as 1 and 0."""
    kinds = arrow.types
    return kinds.is_boolean, kinds.is_integer, kinds.is_floating, kinds.is_decimal


def _arrow() -> tuple[Any, Any, Any]:
    try:
        import pyarrow
        from pyarrow import csv, parquet
    except ImportError:
        raise extra_needed("reading and writing tables", "pyarrow", "data") from None
    return csv, parquet, pyarrow

"""CSV and Parquet tables: read with every problem named, as datasets too, and written whole or not at all."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.checks import repeated
from fedsieve.datasets.columns import (
    feature_columns,
    labels_beside,
    unique_name,
    warn_of_repeated_names,
    zero_or_one,
)
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import warn_of_findings
from fedsieve.errors import DataError, extra_needed, listed, occur_twice
from fedsieve.files import write_atomically

SUFFIXES = (".csv", ".parquet")


def load_table(
    path: str | Path, labels: str | Path | Sequence[str] | None = None, *, drop: Sequence[str] = ()
) -> Dataset:
    """Read a CSV or Parquet file whose columns are features and labels.

    `labels` is a list of names, "y1,y2", "prefix:label_" or the path of a Mulan XML file; by default the XML file with
    the same stem beside the table. Label columns hold 0 and 1 (or true and false) without gaps; all other columns are
    features and hold numbers, NaN where one is missing, except those to `drop`. Where several columns have one name,
    the later ones become NAME.2, NAME.3 and so on.

    Warns (`FedSieveWarning`) about repeated names, and about features that equal a label or are constant.
    """
    dataset = table_dataset(Path(path), labels, drop)
    warn_of_findings(dataset, str(path))
    return dataset


def table_dataset(path: Path, labels: str | Path | Sequence[str] | None = None, drop: Sequence[str] = ()) -> Dataset:
    """`load_table` without warnings about the data."""
    table = read_table(path, number_repeated=True)
    chosen = labels_beside(path, labels, table.column_names)
    features = feature_columns(table.column_names, chosen, drop, str(path))
    return Dataset(
        name=path.stem,
        X=numeric_columns(table, features, str(path)),
        Y=zero_or_one(numeric_columns(table, chosen, f"{path}, labels"), chosen, str(path)),
        feature_names=tuple(features),
        label_names=tuple(chosen),
        files=(str(path),),
    )


def read_table(path: str | Path, *, number_repeated: bool = False) -> Any:
    """The file as a pyarrow table with at least one row and distinct column names.

    Repeated names are refused, since sites match columns by name; or numbered, with a warning, if `number_repeated`.
    """
    file = Path(path)
    suffix = check_suffix(file)
    if not file.is_file():
        raise DataError(f"{file}: no such file.")
    _, parquet, arrow = _arrow()
    try:
        table = _read_csv(file) if suffix == ".csv" else parquet.read_table(file)
        names = table.column_names  # decoded only now
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as {suffix[1:].upper()}: {error}") from None
    if len(set(names)) < len(names):
        twice = sorted(repeated(names))
        if number_repeated:
            warn_of_repeated_names(str(file), twice)
            used: dict[str, int] = {}
            table = table.rename_columns([unique_name(name, used) for name in names])
        else:
            raise DataError(f"{file}: of the column names {occur_twice(twice)}. Rename them.")
    if not table.num_rows:
        raise DataError(f"{file}: has a header but no rows.")
    return table


def _read_csv(file: Path) -> Any:
    """The table; of a row that is too short or too long the place is told, not the values, which are a person's."""
    csv, _, _ = _arrow()
    torn: list[Any] = []

    def refuse(row: Any) -> str:
        torn.append(row)
        return "error"

    options = {"parse_options": csv.ParseOptions(invalid_row_handler=refuse)}
    try:
        return csv.read_csv(file, **options)
    except ValueError:
        if not torn:
            raise
    torn.clear()
    try:
        return csv.read_csv(file, csv.ReadOptions(use_threads=False), **options)  # only so are rows numbered
    except ValueError:
        row = torn[0]
        raise DataError(
            f"{file}: cannot be read as CSV: line {row.number} has {row.actual_columns} fields, the first line "
            f"{row.expected_columns}. Is it cut, or does a text hold a comma outside of quotes?"
        ) from None


def numeric_columns(table: Any, columns: Sequence[str], owner: str) -> Float:
    """Columns of a pyarrow table as float64, (n_rows, n_columns), NaN where a value is missing."""
    _, _, arrow = _arrow()
    values = np.empty((table.num_rows, len(columns)))
    for index, name in enumerate(columns):
        column = table.column(name)
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)  # a categorical column counts as its values
        kind = column.type
        if arrow.types.is_null(kind):
            values[:, index] = np.nan
        elif any(is_kind(kind) for is_kind in _numbers(arrow)):
            values[:, index] = column.cast(arrow.float64(), safe=False).to_numpy()
        else:
            row = next((row for row, value in enumerate(column.to_pylist(), 1) if not _like_a_number(value)), 0)
            raise DataError(
                f"{owner}: column {name!r} holds {kind}, first in row {row}, no numbers. Encode it in numbers, the "
                "same at all sites, or leave it out."
            )
    return values


def _like_a_number(value: object) -> bool:
    """Whether a value may stand in a column of numbers: one text among numbers makes all of them text."""
    if value is None:
        return True
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return isinstance(value, str)


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

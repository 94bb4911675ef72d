"""Tables on disk as numbers: with every problem of their columns named, and as datasets too."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.checks import repeated
from fedsieve.datasets.coding import ENCODE
from fedsieve.datasets.columns import (
    feature_columns,
    labels_beside,
    unique_name,
    warn_of_repeated_names,
    zero_or_one,
)
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import warn_of_findings
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streams import TableStream, open_stream
from fedsieve.datasets.table_files import TableFile, pyarrow_parts, read_file
from fedsieve.errors import DataError, occur_twice


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


def read_table(path: str | Path, *, number_repeated: bool = False, reading: Reading | None = None) -> Any:
    """The file as a pyarrow table with at least one row and distinct column names."""
    return table_file(path, number_repeated=number_repeated, reading=reading).table


def table_file(path: str | Path, *, number_repeated: bool = False, reading: Reading | None = None) -> TableFile:
    """The same, and how it was read.

    Repeated names are refused, since sites match columns by name; or numbered, with a warning, if `number_repeated`.
    """
    file = Path(path)
    table, how, dialect = read_file(file, reading or Reading())
    names = table.column_names
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
    return TableFile(table, how, dialect)


def checked_stream(file: Path, reading: Reading | None = None) -> TableStream:
    """The file as a stream with at least one row; its column names are distinct."""
    stream = open_stream(file, reading or Reading())
    if not stream.num_rows:
        raise DataError(f"{file}: has a header but no rows.")
    return stream


def numeric_columns(table: Any, columns: Sequence[str], owner: str) -> Float:
    """Columns of a pyarrow table as float64, (n_rows, n_columns), NaN where a value is missing."""
    _, _, arrow = pyarrow_parts()
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
            found = column.to_pylist()
            row = next((row for row, value in enumerate(found, 1) if not _like_a_number(value)), None)
            if row is not None:
                raise DataError(f"{owner}: column {name!r} holds {kind}, first in row {row}, no numbers. {ENCODE}")
            values[:, index] = [np.nan if value is None else float(value) for value in found]
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


def _numbers(arrow: Any) -> tuple[Callable[[Any], bool], ...]:
    """The column types that are numbers; true and false count as 1 and 0."""
    kinds = arrow.types
    return kinds.is_boolean, kinds.is_integer, kinds.is_floating, kinds.is_decimal

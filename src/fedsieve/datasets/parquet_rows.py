"""A Parquet file from rows that come some at a time: whole or not at all, text by the words of its codes."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.categories import OTHER, Categories
from fedsieve.datasets.table_files import pyarrow_parts
from fedsieve.errors import DataError
from fedsieve.files import write_atomically


class UnknownCodesError(DataError):
    """The rows are not what was agreed on, whatever the file."""


def write_rows(
    path: Path, names: Sequence[str], parts: Iterable[Float], categories: Categories, about: Mapping[str, str]
) -> None:
    """Write the file; gaps become nulls, and `about` its description, for `described`."""
    _, parquet, arrow = pyarrow_parts()
    words = {name: [*categories[name], *([] if OTHER in categories[name] else [OTHER])] for name in categories}
    kinds = [(name, arrow.string() if name in words else arrow.float64()) for name in names]
    schema = arrow.schema(kinds, metadata={key: value.encode() for key, value in about.items()})

    def column(name: str, values: Float) -> Any:
        gaps = np.isnan(values)
        if name not in words:
            return arrow.array(values, mask=gaps)
        codes = np.where(gaps, 0, values)
        if np.any((codes < 0) | (codes >= len(words[name])) | (codes % 1 != 0)):
            raise UnknownCodesError(f"column {name!r} has codes for which the agreement knows no word.")
        return arrow.array([None if gap else words[name][int(code)] for gap, code in zip(gaps, codes, strict=True)])

    def write(temporary: Path) -> None:
        with parquet.ParquetWriter(temporary, schema) as writer:
            for values in parts:
                columns = [column(name, values[:, place]) for place, name in enumerate(names)]
                writer.write_batch(arrow.record_batch(columns, schema=schema))

    for left in path.parent.glob(f".{path.name}.*.part"):  # of a process that was killed
        left.unlink()
    write_atomically(path, write, mode=0o600)


def described(path: Path) -> dict[str, str]:
    """What a file of `write_rows` says about itself; empty for any other file."""
    _, parquet, _ = pyarrow_parts()
    try:
        about = parquet.read_schema(path).metadata or {}
        return {key.decode(): value.decode() for key, value in about.items()}
    except (OSError, ValueError):
        return {}


def n_rows_in(path: Path) -> int:
    """How many rows a file of `write_rows` has."""
    _, parquet, _ = pyarrow_parts()
    return int(parquet.read_metadata(path).num_rows)

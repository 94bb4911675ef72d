"""A table over a file that is read in batches: its columns as numbers, as it was decided for all tables together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.checks import check_count
from fedsieve.datasets.coding import Coding
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.kinds import Column
from fedsieve.datasets.scan import part_of, scan
from fedsieve.datasets.streams import TableStream, open_stream
from fedsieve.tables import StreamedTable


class FileTable(StreamedTable):
    """Some columns of a file, which stays where it is: each pass reads it anew, and only the columns it needs."""

    def __init__(
        self,
        stream: TableStream,
        columns: Mapping[str, Column],
        coding: Coding,
        features: Sequence[str],
        batch_rows: int | None = None,
    ) -> None:
        self.names, self.n_rows, self.batch_rows = tuple(features), stream.num_rows, batch_rows
        self._stream, self._columns, self._coding = stream, columns, coding

    def parts(self, columns: Sequence[str], size: int) -> Iterator[Float]:
        """Column by column into one array: so each is copied once."""
        for table in self._stream.batches(columns, size):
            rows = np.empty((table.num_rows, len(columns)), order="F")
            for place, name in enumerate(columns):
                rows[:, place] = self._numbers(name, table.column(name))
            yield rows

    def _numbers(self, name: str, cells: Any) -> Float:
        if cells.null_count == 0 and str(cells.type) == "double" and name not in self._coding.categories:
            numbers: Float = cells.to_numpy()
            return numbers
        kind = self._columns[name].kind
        return self._coding.numbers(str(self._stream.file), name, part_of(cells, kind), len(cells))[0]


def check_kinds(owner: str, columns: Mapping[str, Column], features: Sequence[str], coding: Coding) -> None:
    """Refuse a column that cannot be read as was decided, before any pass over its rows."""
    for name in features:
        column = columns[name]
        coding.numbers(owner, name, replace(column, values=[]), 0)


def open_table(path: str | Path, *, batch_rows: int | None = None, reading: Reading | None = None) -> FileTable:
    """A Parquet or CSV file of numbers as a client's table for `fit`, streamed, whatever its size.

    Text, dates and ids are for the command line, which reads all files together: here a column that holds no numbers
    is refused, by its name. `batch_rows` are read at a time (of a CSV file, blocks of bytes); None: as memory allows.
    """
    if batch_rows is not None:
        check_count("open_table", "batch_rows", batch_rows)
    stream = open_stream(Path(path), reading or Reading())
    columns, coding = scan(stream, stream.column_names), Coding()
    check_kinds(str(path), columns, stream.column_names, coding)
    return FileTable(stream, columns, coding, stream.column_names, batch_rows)

"""Table files that are read in batches, since they may be larger than memory: Parquet by row groups, CSV by blocks.

What a small file is read as at once is found out in passes here, with the same answers: the types of CSV columns, how
many rows there are, and what numbers of thousands are grouped. Nothing is kept of a batch that went by.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from fedsieve.checks import repeated
from fedsieve.datasets.dialect import Dialect, Reading, dialect_of
from fedsieve.datasets.table_files import (
    GROUPED,
    check_decoded,
    check_suffix,
    csv_options,
    described_index,
    names_without_index,
    pyarrow_parts,
    ungrouped_column,
    unreadable_csv,
)
from fedsieve.errors import DataError, occur_twice

LARGE_FILE = 1 << 28  # bytes of text, or of a table's numbers, from which on a file is streamed
BLOCK_BYTES = 1 << 23  # of a CSV file that are parsed at a time
BUFFER_BYTES = 1 << 20  # of each column of a Parquet file
_DOES_NOT_FIT = re.compile(r"In CSV column #\d+: (Row #\d+: )?CSV conversion error to (?!string|binary)")


def is_large(file: Path) -> bool:
    """Whether a file is better streamed: of a format that can be, and of a size that may not fit."""
    suffix = check_suffix(file)
    if suffix == ".xlsx" or not file.is_file():
        return False
    if suffix == ".parquet":
        return _size_in_memory(file) >= LARGE_FILE
    times = 8 if suffix.endswith(".gz") else 1  # what text packs to
    return times * file.stat().st_size >= LARGE_FILE


def _size_in_memory(file: Path) -> int:
    """Of a Parquet file, by its footer: 0 and 1 pack to a hundredth. Who reads a damaged one says so."""
    _, parquet, arrow = pyarrow_parts()
    try:
        footer = parquet.read_metadata(file)
    except (arrow.ArrowException, OSError):
        return 0
    return 8 * int(footer.num_rows) * int(footer.num_columns)


class TableStream(ABC):
    """A file's rows as pyarrow tables, some at a time; `num_rows` and `column_names` as a pyarrow table has them."""

    file: Path
    column_names: list[str]
    num_rows: int
    how: str = ""
    dialect: Dialect = Dialect()

    @abstractmethod
    def batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """All rows in these columns, about `size` at a time; of a file without rows one table without."""

    @abstractmethod
    def type_of(self, name: str) -> Any:
        """The pyarrow type of a column."""

    @property
    def num_columns(self) -> int:
        """How many there are."""
        return len(self.column_names)

    def read(self, columns: Sequence[str]) -> Any:
        """Some columns as one pyarrow table, for the few that are needed whole, such as labels."""
        _, _, arrow = pyarrow_parts()
        return arrow.concat_tables(self.batches(columns, 1 << 16))

    def _leave_out(self, index_col: str | None, empty: Sequence[str]) -> None:
        kept, index = names_without_index(self.file, self.column_names, index_col, empty)
        self.column_names = kept
        self.how = ", ".join([self.how] * bool(self.how) + described_index(index))
        if twice := sorted(repeated(kept)):
            raise DataError(f"{self.file}: of the column names {occur_twice(twice)}. Rename them.")


class ParquetStream(TableStream):
    """A Parquet file: of its row groups only the columns that are asked for are read."""

    def __init__(self, file: Path, reading: Reading) -> None:
        self.file = file
        with self._opened() as opened:
            self._schema, self.num_rows = opened.schema_arrow, opened.metadata.num_rows
        self.column_names = list(self._schema.names)
        self._leave_out(reading.index_col, ())

    def batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        """By row groups, decoded column by column as far as a batch needs."""
        _, _, arrow = pyarrow_parts()
        names = list(dict.fromkeys(columns))
        try:
            with self._opened() as opened:
                for batch in opened.iter_batches(batch_size=size, columns=names):
                    yield arrow.Table.from_batches([batch])
                if not self.num_rows:
                    yield self._schema.empty_table().select(names)
        except (arrow.ArrowException, OSError) as error:
            raise _unreadable(self.file, error) from None

    def type_of(self, name: str) -> Any:
        """As the file says."""
        return self._schema.field(name).type

    def _opened(self) -> Any:
        _, parquet, arrow = pyarrow_parts()
        try:
            return parquet.ParquetFile(self.file, buffer_size=BUFFER_BYTES, pre_buffer=False)
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _unreadable(self.file, error) from None


class CsvStream(TableStream):
    """A CSV file: parsed anew in each pass, by the types that its first pass found."""

    def __init__(self, file: Path, reading: Reading) -> None:
        self.file, self.dialect = file, dialect_of(file, reading)
        usual = Dialect().for_ending(check_suffix(file))
        self.how = "" if self.dialect == usual else str(self.dialect)
        self._types: dict[str, Any] = {}
        self._grouped: tuple[str, ...] = ()
        self.column_names, self.num_rows, empty = self._settled()
        if reading.decimal is not None:
            self._grouped = self._with_grouped_thousands()
        self._leave_out(reading.index_col, empty)

    def batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:  # noqa: ARG002 (blocks are of bytes)
        """By blocks of the file."""
        for block in self._blocks(list(dict.fromkeys(columns))):
            table = block
            for name in self._grouped:
                if name in table.column_names:
                    table = ungrouped_column(table, name, self.dialect.decimal)
            yield table

    def type_of(self, name: str) -> Any:
        """As the whole file has it."""
        _, _, arrow = pyarrow_parts()
        return arrow.float64() if name in self._grouped else self._types[name]

    def _settled(self) -> tuple[list[str], int, list[str]]:
        """Find the types that fit all rows; names, rows, empty columns.

        pyarrow goes by the first block. Where that does not fit all others, one more pass reads text, and each column
        gets the narrowest type that all of it could be.
        """
        _, _, arrow = pyarrow_parts()
        seen = _SeenBlocks()
        try:
            for block in self._blocks(None):
                seen.add(block)
            self._types = dict(zip(seen.names, seen.types, strict=True))
        except _TypeTooNarrowError:
            seen = _SeenBlocks()
            self._types = dict.fromkeys(self._names(), arrow.string())
            fitting = {name: _types_by_width() for name in self._types}
            for block in self._blocks(None):
                seen.add(block)
                for name, cells in zip(seen.names, block.columns, strict=True):
                    words = cells.unique().drop_null()
                    fitting[name] = [kind for kind in fitting[name] if _fits(words, kind, self.dialect.decimal)]
            self._types = {name: kinds[0] for name, kinds in fitting.items()}
        check_decoded(self.file, self._types.values())
        return seen.names, seen.n_rows, seen.empty()

    def _blocks(self, columns: list[str] | None) -> Iterator[Any]:
        csv, _, arrow = pyarrow_parts()
        reading = csv.ReadOptions(
            encoding=self.dialect.encoding, block_size=BLOCK_BYTES, use_threads=columns is not None
        )
        how = {"include_columns": columns} if columns is not None else {}
        types = {name: kind for name, kind in self._types.items() if columns is None or name in columns}
        try:
            with csv.open_csv(self.file, reading, *csv_options(self.dialect, column_types=types, **how)) as opened:
                block = None
                for block in opened:
                    yield arrow.Table.from_batches([block])
                if block is None:
                    yield opened.schema.empty_table()
        except (ValueError, arrow.ArrowException, OSError) as error:
            if _DOES_NOT_FIT.match(str(error)):
                raise _TypeTooNarrowError(
                    f"{self.file}: a column has other values than it had. The file must not change meanwhile."
                ) from None
            raise unreadable_csv(self.file, error, BLOCK_BYTES) from None

    def _names(self) -> list[str]:
        csv, _, _ = pyarrow_parts()
        reading = csv.ReadOptions(encoding=self.dialect.encoding, block_size=BLOCK_BYTES)
        with csv.open_csv(self.file, reading, *csv_options(self.dialect)) as opened:
            return list(opened.schema.names)

    def _with_grouped_thousands(self) -> tuple[str, ...]:
        """Columns whose text is numbers with grouped thousands in all rows."""
        _, _, arrow = pyarrow_parts()
        left = {name: False for name, kind in self._types.items() if arrow.types.is_string(kind)}
        for block in self._blocks(list(left)) if left else ():
            for name in list(left):
                texts = [text.strip() for text in block.column(name).unique().to_pylist() if text is not None]
                known = [text for text in texts if text]
                if not all(GROUPED[self.dialect.decimal].fullmatch(text) for text in known):
                    del left[name]
                elif known:
                    left[name] = True
        return tuple(name for name, some in left.items() if some)


class _TypeTooNarrowError(DataError):
    """A column has values beyond the type that it was read as."""


class _SeenBlocks:
    """What blocks that went by have in common, how many rows they had, and how many of these had a value."""

    def __init__(self) -> None:
        self.names, self.types = list[str](), list[Any]()
        self.n_rows, self._n_present = 0, list[int]()

    def add(self, block: Any) -> None:
        """The next one."""
        if not self.names:
            self.names, self.types = block.column_names, block.schema.types
            self._n_present = [0] * len(self.names)
        self.n_rows += block.num_rows
        present = (block.num_rows - column.null_count for column in block.columns)
        self._n_present = [sum(counts) for counts in zip(self._n_present, present, strict=True)]

    def empty(self) -> list[str]:
        """The columns without any value."""
        return [name for name, count in zip(self.names, self._n_present, strict=True) if not count]


def _types_by_width() -> list[Any]:
    """What a column of a CSV file can be, from narrow to wide, as pyarrow tries it."""
    _, _, arrow = pyarrow_parts()
    moments = [arrow.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("s", "ns")]
    narrow = [arrow.null(), arrow.int64(), arrow.bool_(), arrow.date32(), arrow.time32("s")]
    return [*narrow, *moments, arrow.float64(), arrow.string()]


def _fits(words: Any, kind: Any, decimal: str) -> bool:
    """Whether words of a column can be read as a type: by the reader itself, so that it will read them again."""
    csv, _, arrow = pyarrow_parts()
    if arrow.types.is_string(kind):
        return True
    written = BytesIO()
    csv.write_csv(arrow.table({"words": words}), written)
    _, converting = csv_options(Dialect(decimal=decimal), column_types={"words": kind})
    try:
        csv.read_csv(BytesIO(written.getvalue()), convert_options=converting)
    except arrow.ArrowInvalid:
        return False
    return True


def open_stream(file: Path, reading: Reading) -> TableStream:
    """The stream of a file that exists, by its ending."""
    if check_suffix(file) == ".parquet":
        return ParquetStream(file, reading)
    return CsvStream(file, reading)


def _unreadable(file: Path, error: Exception) -> DataError:
    return DataError(f"{file}: cannot be read as PARQUET: {error}")

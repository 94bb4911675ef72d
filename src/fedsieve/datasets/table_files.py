"""Tables on disk: CSV and its kin, Parquet, spreadsheets. Read as pyarrow tables, written whole or not at all."""

import csv as plain_csv
import gzip
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from fedsieve.datasets.dialect import Dialect, Reading, dialect_of, longest_line
from fedsieve.datasets.excel import read_sheet, write_sheet
from fedsieve.errors import DataError, extra_needed, listed
from fedsieve.files import write_atomically

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx")
OTHER_ENCODING = "it is in another encoding. Say which: --encoding."
EMPTY = "Empty CSV file"
BLOCK_BYTES = 1 << 20  # of a CSV file that are parsed at a time, by one thread
NO_NAME = re.compile(r"|Unnamed: 0")
TORN_ROW = re.compile(r"CSV parse error: (Row #(?P<line>\d+): )?Expected (?P<first>\d+) columns, got (?P<fields>\d+)")
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
GROUPED = {
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?"),
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?"),
}


class TableFile(NamedTuple):
    """A pyarrow table, in words how it was read (none where that was as usual), and its dialect."""

    table: Any
    how: str
    dialect: Dialect


def read_file(file: Path, reading: Reading) -> TableFile:
    """The file as it is, unless its names or its content are wrong: who asks for a table looks at these.

    A column that only numbers the rows, without a name or chosen by `index_col`, is left out.
    """
    suffix, dialect = check_suffix(file), Dialect()
    if not file.is_file():
        raise DataError(f"{file}: no such file.")
    if suffix == ".parquet":
        table, how = _read_parquet(file), ""
    elif suffix == ".xlsx":
        columns, how = read_sheet(file, reading.sheet)
        table = arrow_table(columns)
    else:
        dialect = dialect_of(file, reading)
        table = _read_csv(file, dialect, grouped=reading.decimal is not None)
        how = "" if dialect == Dialect().for_ending(suffix) else str(dialect)
    table, index = _table_without_index(file, table, reading.index_col)
    words = [how] * bool(how) + described_index(index)
    return TableFile(table, ", ".join(words), dialect)


def write_file(table: Any, path: str | Path, dialect: Dialect | None = None) -> None:
    """Write a pyarrow table, by the file's ending and as `dialect` says; a failure leaves no file behind."""
    write_parts([table], path, dialect)


def write_parts(parts: Iterable[Any], path: str | Path, dialect: Dialect | None = None) -> None:
    """The same of a table that comes in parts, at least one: each is written before the next one is read."""
    file = Path(path)
    suffix = check_suffix(file)
    csv, parquet, arrow = pyarrow_parts()
    dialect = (dialect or Dialect()).for_ending(suffix)
    coming = iter(parts)

    def write(temporary: Path) -> None:
        first = next(coming)
        if suffix == ".xlsx":
            write_sheet(first.column_names, _rows(arrow.concat_tables([first, *coming])), temporary)
            return
        with ExitStack() as files:
            if suffix == ".parquet":
                add = files.enter_context(parquet.ParquetWriter(temporary, first.schema)).write_table
            elif dialect.decimal == "." and dialect.encoding == "utf-8":
                packing = "gzip" if suffix.endswith(".gz") else None
                stream = files.enter_context(arrow.output_stream(str(temporary), compression=packing))
                options = csv.WriteOptions(delimiter=dialect.sep)
                add = files.enter_context(csv.CSVWriter(stream, first.schema, write_options=options)).write_table
            else:
                packed = suffix.endswith(".gz")
                add = files.enter_context(_PlainCsv(temporary, first.column_names, dialect, packed=packed)).add
            for part in chain([first], coming):
                add(part)

    try:
        write_atomically(file, write)
    except (arrow.ArrowException, UnicodeEncodeError):  # whose words could show a value
        raise DataError(f"{file}: cannot be written as {kind_of(suffix)}: it cannot hold these values.") from None


def check_suffix(path: Path) -> str:
    """The ending that decides the format."""
    suffix = next((known for known in SUFFIXES if path.name.lower().endswith(known)), "")
    if not suffix:
        raise DataError(f"{path}: the ending must be one of {listed(SUFFIXES)}; got {path.suffix.lower()!r}.")
    return suffix


def bare_name(path: Path) -> str:
    """A file's name without its ending, both parts of it.

    >>> bare_name(Path("data/siteA.csv.gz"))
    'siteA'
    """
    suffix = next((known for known in SUFFIXES if path.name.lower().endswith(known)), path.suffix)
    return path.name.removesuffix(path.name[len(path.name) - len(suffix) :])


def kind_of(suffix: str) -> str:
    """The format's name.

    >>> kind_of(".csv.gz")
    'CSV'
    """
    return suffix.split(".")[1].upper()


def arrow_table(columns: Sequence[tuple[str, list[Any]]]) -> Any:
    """Columns of Python's values as a pyarrow table; a column of mixed kinds is text."""
    _, _, arrow = pyarrow_parts()

    def array(values: list[Any]) -> Any:
        try:
            return arrow.array(values)
        except (arrow.ArrowInvalid, arrow.ArrowTypeError):
            return arrow.array([None if value is None else str(value) for value in values], arrow.string())

    return arrow.Table.from_arrays([array(values) for _, values in columns], names=[name for name, _ in columns])


def pyarrow_parts() -> tuple[Any, Any, Any]:
    """Modules `csv`, `parquet` and pyarrow itself."""
    try:
        import pyarrow
        from pyarrow import csv, parquet
    except ImportError:
        raise extra_needed("reading and writing tables", "pyarrow", "data") from None
    return csv, parquet, pyarrow


def _read_parquet(file: Path) -> Any:
    _, parquet, arrow = pyarrow_parts()
    try:
        with parquet.ParquetFile(file) as opened:  # reads columns of one name, too: who wants a table refuses them
            table = opened.read()
        _ = table.column_names  # decoded only now
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as PARQUET: {error}") from None
    return table


def _read_csv(file: Path, dialect: Dialect, *, grouped: bool) -> Any:
    """The table; of what cannot be read the place is told, not the values, which are a person's."""
    csv, _, arrow = pyarrow_parts()

    def read(**how: Any) -> Any:
        reading = csv.ReadOptions(encoding=dialect.encoding, **how)
        table = csv.read_csv(file, reading, *csv_options(dialect))
        _ = table.column_names  # decoded only now
        return table

    try:
        try:
            table = read(block_size=BLOCK_BYTES)
        except arrow.ArrowInvalid as error:
            longest = longest_line(file) if _ends_in_no_block(error) else 0
            if longest < BLOCK_BYTES:  # a quote that is not closed would swallow all rows behind it in a larger block
                raise
            table = read(block_size=2 * longest)
    except (ValueError, arrow.ArrowException, OSError) as error:
        why: Exception = error
        if TORN_ROW.match(str(error)):
            try:
                read(use_threads=False)  # only so are rows numbered
            except ValueError as numbered:
                why = numbered
        raise unreadable_csv(file, why, BLOCK_BYTES) from None
    check_decoded(file, table.schema.types)
    return _all_ungrouped(table, dialect.decimal) if grouped else table


def csv_options(dialect: Dialect, **converting: Any) -> tuple[Any, Any]:
    """How a file of this dialect is parsed and converted.

    Without an `invalid_row_handler`: a thread of pyarrow may be the last to let go of it, and where Python is about to
    end by then, the process is aborted.
    """
    csv, _, _ = pyarrow_parts()
    # A text in quotes may hold the end of a line: blocks are cut where a row ends, which costs no more to find.
    parse = csv.ParseOptions(delimiter=dialect.sep, newlines_in_values=True)
    return parse, csv.ConvertOptions(decimal_point=dialect.decimal, strings_can_be_null=True, **converting)


def unreadable_csv(file: Path, error: Exception, block_bytes: int) -> DataError:
    """Why pyarrow could not read a file, without its words, which would show a cell."""
    if (torn := TORN_ROW.match(str(error))) is not None:
        line = f"line {torn['line']} has" if torn["line"] else "a line has"
        why = (
            f"{line} {torn['fields']} fields, the first line {torn['first']}. "
            "Is it cut, or does a text hold a comma outside of quotes?"
        )
    elif isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
        why = OTHER_ENCODING
    elif _ends_in_no_block(error):
        if longest_line(file) >= block_bytes:
            why = f"a line is longer than {block_bytes:,} bytes. Store the table as Parquet, or make names shorter."
        elif EMPTY in str(error):
            why = EMPTY
        else:
            why = f"a text in quotes is longer than {block_bytes:,} bytes. Is a quote not closed?"
    else:
        why = "is it cut, or separated otherwise (--sep)?"
    return DataError(f"{file}: cannot be read as CSV: {why}")


def _ends_in_no_block(error: Exception) -> bool:
    """Whether a row went on behind the block that it is read in; of a header, pyarrow takes the block for empty."""
    return "straddles two block boundaries" in str(error) or EMPTY in str(error)


def check_decoded(file: Path, types: Iterable[Any]) -> None:
    """Refuse columns that are bytes: what could not be decoded."""
    _, _, arrow = pyarrow_parts()
    if any(arrow.types.is_binary(kind) for kind in types):
        raise DataError(f"{file}: cannot be read as CSV: {OTHER_ENCODING}")


def _all_ungrouped(table: Any, decimal: str) -> Any:
    """Columns whose text is numbers with grouped thousands, as numbers: whoever named the decimal sign meant these."""
    _, _, arrow = pyarrow_parts()
    for place, name in enumerate(table.column_names):
        if not arrow.types.is_string(table.column(place).type):
            continue
        texts = [None if text is None else text.strip() for text in table.column(place).to_pylist()]
        known = [text for text in texts if text]
        if known and all(GROUPED[decimal].fullmatch(text) for text in known):
            table = ungrouped_column(table, name, decimal)
    return table


def ungrouped_column(table: Any, name: str, decimal: str) -> Any:
    """The table with the numbers of a column whose text has grouped thousands."""
    _, _, arrow = pyarrow_parts()
    place, group = table.column_names.index(name), "," if decimal == "." else "."
    texts = [None if text is None else text.strip() for text in table.column(place).to_pylist()]
    numbers = [float(text.replace(group, "").replace(",", ".")) if text else None for text in texts]
    return table.set_column(place, name, arrow.array(numbers, arrow.float64()))


def _table_without_index(file: Path, table: Any, index_col: str | None) -> tuple[Any, list[str]]:
    """The table without columns that only number the rows or have neither name nor content, and the former's names."""
    names = table.column_names
    empty = [place for place in range(len(names)) if table.column(place).null_count == table.num_rows]
    kept, index = _kept_places(file, names, index_col, empty)
    return (table.select(kept) if len(kept) < len(names) else table), [names[place] for place in index]


def names_without_index(
    file: Path, names: Sequence[str], index_col: str | None, empty: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The same of a table that is streamed: the names of the columns that stay, and of those that number the rows.

    `empty` are the columns without a value.
    """
    nothing = [place for place, name in enumerate(names) if name in empty]
    kept, index = _kept_places(file, names, index_col, nothing)
    return [names[place] for place in kept], [names[place] for place in index]


def _kept_places(
    file: Path, names: Sequence[str], index_col: str | None, empty: Sequence[int]
) -> tuple[list[int], list[int]]:
    if index_col is not None:
        place = names.index(index_col) if index_col in names else int(index_col) if index_col.isdigit() else -1
        if not 0 <= place < len(names):
            raise DataError(f"{file}: --index-col names no column; got {index_col!r}, columns: {listed(names)}.")
        index = [place]
    else:
        index = [
            place
            for place, name in enumerate(names)
            if PANDAS_INDEX.fullmatch(name) or (place == 0 and len(names) > 1 and NO_NAME.fullmatch(name))
        ]
    gone = {*index, *(place for place in empty if not names[place])}
    return [place for place in range(len(names)) if place not in gone], index


def described_index(names: Sequence[str]) -> list[str]:
    """In words, which columns were taken for the index."""
    return [f"{_titled(name)} as the index, left out" for name in names]


def _titled(name: str) -> str:
    return f"column {name!r}" if name else "the first column, which has no name,"


def _rows(table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


class _PlainCsv:
    """What pyarrow cannot write: decimal commas and other encodings."""

    def __init__(self, path: Path, names: Sequence[str], dialect: Dialect, *, packed: bool) -> None:
        self._files, self._decimal = ExitStack(), dialect.decimal
        binary: Any = self._files.enter_context(gzip.GzipFile(path, "wb") if packed else path.open("wb"))
        stream = self._files.enter_context(TextIOWrapper(binary, dialect.encoding, newline=""))
        self._writer = plain_csv.writer(stream, delimiter=dialect.sep, lineterminator="\n")
        self._writer.writerow(names)

    def __enter__(self) -> "_PlainCsv":
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def add(self, table: Any) -> None:
        """Some more rows."""
        self._writer.writerows([self._field(value) for value in row] for row in _rows(table))

    def _field(self, value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()  # as pyarrow writes it
        return repr(value).replace(".", self._decimal) if isinstance(value, float) else value

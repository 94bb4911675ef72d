"""Tables on disk: CSV and its kin, Parquet, spreadsheets. Read as pyarrow tables, written whole or not at all."""

import csv as plain_csv
import gzip
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

from fedsieve.datasets.dialect import Dialect, Reading, dialect_of
from fedsieve.datasets.excel import read_sheet, write_sheet
from fedsieve.errors import DataError, extra_needed, listed
from fedsieve.files import write_atomically

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx")
OTHER_ENCODING = "it is in another encoding. Say which: --encoding."
NO_NAME = re.compile(r"|Unnamed: 0")
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_COLUMN = re.compile(r"In CSV column #(\d+)")
_GROUPED = {
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
    table, index = _without_index(file, table, reading.index_col)
    words = [how] * bool(how) + [f"{_titled(name)} as the index, left out" for name in index]
    return TableFile(table, ", ".join(words), dialect)


def write_file(table: Any, path: str | Path, dialect: Dialect | None = None) -> None:
    """Write a pyarrow table, by the file's ending and as `dialect` says; a failure leaves no file behind."""
    file = Path(path)
    suffix = check_suffix(file)
    csv, parquet, arrow = pyarrow_parts()
    dialect = (dialect or Dialect()).for_ending(suffix)

    def write(temporary: Path) -> None:
        if suffix == ".parquet":
            parquet.write_table(table, temporary)
        elif suffix == ".xlsx":
            write_sheet(table.column_names, _rows(table), temporary)
        elif dialect.decimal == "." and dialect.encoding == "utf-8":
            packing = "gzip" if suffix.endswith(".gz") else None
            with arrow.output_stream(str(temporary), compression=packing) as stream:
                csv.write_csv(table, stream, csv.WriteOptions(delimiter=dialect.sep))
        else:
            _write_csv(table, temporary, dialect, packed=suffix.endswith(".gz"))

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
        table = parquet.read_table(file)
        _ = table.column_names  # decoded only now
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as PARQUET: {error}") from None
    return table


def _read_csv(file: Path, dialect: Dialect, *, grouped: bool) -> Any:
    """The table; of what cannot be read the place is told, not the values, which are a person's."""
    csv, _, arrow = pyarrow_parts()
    torn: list[Any] = []
    types: dict[str, Any] = {}

    def refuse(row: Any) -> str:
        torn.append(row)
        return "error"

    def options() -> dict[str, Any]:
        return {
            "parse_options": csv.ParseOptions(delimiter=dialect.sep, invalid_row_handler=refuse),
            "convert_options": csv.ConvertOptions(
                decimal_point=dialect.decimal, strings_can_be_null=True, column_types=types
            ),
        }

    def read(**how: Any) -> Any:
        return csv.read_csv(file, csv.ReadOptions(encoding=dialect.encoding, **how), **options())

    while True:
        try:
            table = read()
            _ = table.column_names  # decoded only now
            if any(arrow.types.is_binary(kind) for kind in table.schema.types):  # what could not be decoded
                raise DataError(f"{file}: cannot be read as CSV: {OTHER_ENCODING}")
            return _ungrouped(table, dialect.decimal) if grouped else table
        except DataError:
            raise
        except (ValueError, arrow.ArrowException, OSError) as error:
            place = _COLUMN.search(str(error))
            if torn or place is None:
                raise _unreadable(file, error, torn, read) from None
            with closing(csv.open_csv(file, csv.ReadOptions(encoding=dialect.encoding), **options())) as beginning:
                name = beginning.schema.names[int(place[1])]
            if name in types:
                raise _unreadable(file, error, torn, read) from None
            types[name] = arrow.string()  # pyarrow judges a column by its beginning; all of it decides


def _unreadable(file: Path, error: Exception, torn: list[Any], read: Callable[..., Any]) -> DataError:
    if torn:
        torn.clear()
        try:
            read(use_threads=False)  # only so are rows numbered
        except ValueError:
            row = torn[0]
            return DataError(
                f"{file}: cannot be read as CSV: line {row.number} has {row.actual_columns} fields, the first line "
                f"{row.expected_columns}. Is it cut, or does a text hold a comma outside of quotes?"
            )
    if isinstance(error, UnicodeError):
        return DataError(f"{file}: cannot be read as CSV: {OTHER_ENCODING}")
    why = "Empty CSV file" if "Empty CSV file" in str(error) else "is it cut, or separated otherwise (--sep)?"
    return DataError(f"{file}: cannot be read as CSV: {why}")


def _ungrouped(table: Any, decimal: str) -> Any:
    """Columns whose text is numbers with grouped thousands, as numbers: whoever named the decimal sign meant these."""
    _, _, arrow = pyarrow_parts()
    for place, name in enumerate(table.column_names):
        if not arrow.types.is_string(table.column(place).type):
            continue
        texts = [None if text is None else text.strip() for text in table.column(place).to_pylist()]
        known = [text for text in texts if text]
        if known and all(_GROUPED[decimal].fullmatch(text) for text in known):
            group = "," if decimal == "." else "."
            numbers = [float(text.replace(group, "").replace(",", ".")) if text else None for text in texts]
            table = table.set_column(place, name, arrow.array(numbers, arrow.float64()))
    return table


def _without_index(file: Path, table: Any, index_col: str | None) -> tuple[Any, list[str]]:
    """The table without columns that only number the rows or have neither name nor content, and the former's names."""
    names = table.column_names
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
    empty = [
        place
        for place, name in enumerate(names)
        if not name and place not in index and table.column(place).null_count == table.num_rows
    ]
    kept = [place for place in range(len(names)) if place not in {*index, *empty}]
    return (table.select(kept) if len(kept) < len(names) else table), [names[place] for place in index]


def _titled(name: str) -> str:
    return f"column {name!r}" if name else "the first column, which has no name,"


def _rows(table: Any) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _write_csv(table: Any, path: Path, dialect: Dialect, *, packed: bool) -> None:
    """What pyarrow cannot write: decimal commas and other encodings."""

    def field(value: Any) -> Any:
        if isinstance(value, bool):
            return str(value).lower()  # as pyarrow writes it
        return repr(value).replace(".", dialect.decimal) if isinstance(value, float) else value

    with ExitStack() as files:
        binary: Any = files.enter_context(gzip.GzipFile(path, "wb") if packed else path.open("wb"))
        stream = files.enter_context(TextIOWrapper(binary, dialect.encoding, newline=""))
        writer = plain_csv.writer(stream, delimiter=dialect.sep, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows([field(value) for value in row] for row in _rows(table))

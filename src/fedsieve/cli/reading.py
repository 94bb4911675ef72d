"""The options by which all commands that read tables are told how; whatever is not said is found out, and said."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.console import say
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streams import TableStream, is_large
from fedsieve.datasets.table_files import TableFile
from fedsieve.datasets.tables import checked_stream, table_file

FORMATS = "CSV, TSV (also .gz), Parquet or Excel"
AS_FOUND = Reading()
PANEL = "How tables are read"
OPTIONS = {
    "sep": ("--sep", "What separates columns, such as ';' or tab; found out unless given."),
    "decimal": ("--decimal", "The decimal sign, '.' or ','; found out unless given."),
    "encoding": ("--encoding", "Such as latin-1; found out unless given."),
    "index_col": ("--index-col", "A column that only numbers the rows, by name or place (0 is the first)."),
    "sheet": ("--sheet", "Which sheet of a spreadsheet; the first unless given."),
}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options, which reach it as one `reading`."""

    @wraps(command)
    def with_options(*arguments: Any, **given: Any) -> None:
        said = {name: given.pop(name, None) for name in OPTIONS}
        if said["sep"] in ("tab", "\\t"):  # what a shell lets one type
            said["sep"] = "\t"
        command(*arguments, **given, reading=Reading(**said))

    signature = inspect.signature(command)
    own = [part for part in signature.parameters.values() if part.name != "reading"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, typer.Option(option, help=words, rich_help_panel=PANEL)],
        )
        for name, (option, words) in OPTIONS.items()
    ]
    with_options.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    with_options.__annotations__ = {part.name: part.annotation for part in (*own, *added)}
    return with_options


def read_and_say(file: Path, reading: Reading) -> TableFile:
    """A table, and a line that says how it was read where that had to be found out."""
    found = table_file(file, reading=reading)
    say_how(file, found)
    return found


def open_and_say(file: Path, reading: Reading) -> TableFile | TableStream:
    """The same for rows that need not fit into memory: the table, or of a large file a stream."""
    if not is_large(file):
        return read_and_say(file, reading)
    stream = checked_stream(file, reading)
    say(f"{file}: large, so that it is read in batches, anew in every pass.")
    say_how(file, stream)
    return stream


def rows_of(file: Path, reading: Reading) -> Any:
    """Its pyarrow table, or its stream."""
    found = open_and_say(file, reading)
    return found if isinstance(found, TableStream) else found.table


def say_how(file: Path, found: TableFile | TableStream) -> None:
    """Say how a table was read where that had to be found out."""
    if found.how:
        say(f"{file}: read as: {found.how}")

"""`fedsieve apply`: a table reduced to the selected features."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.checks import check_n_features, names_that_differ
from fedsieve.cli.console import say
from fedsieve.cli.options import how_many, names_among
from fedsieve.cli.reading import AS_FOUND, FORMATS, open_and_say, reads_tables
from fedsieve.datasets.dialect import Dialect, Reading
from fedsieve.datasets.streams import TableStream
from fedsieve.datasets.table_files import SUFFIXES, bare_name, write_parts
from fedsieve.errors import DataError, listed
from fedsieve.ordering import n_kept
from fedsieve.selection_file import read_selection
from fedsieve.text import counted

ROWS = 1 << 16  # of a large table that are written at a time


@reads_tables
def apply(
    table: Annotated[Path, typer.Argument(help=f"The table to reduce: {FORMATS}.")],
    selection: Annotated[Path, typer.Option(help="A result of 'fedsieve select': its folder, or its selection.json.")],
    output: Annotated[Path | None, typer.Option("--out", help=f"The reduced table, {' or '.join(SUFFIXES)}.")] = None,
    keep: Annotated[str, typer.Option(help="Further columns to keep, such as an ID or labels: a,b.")] = "",
    k: Annotated[
        str | None, typer.Option("-k", help="Take the best K of the order, or a share, instead of the selected ones.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Reduce a table to the selected features, best first.

    [bold]Example[/bold]: fedsieve apply --selection result/ siteA.csv

    Without --out the result lies beside the table, as siteA-selected.csv, and
    is written as the table is: separators, decimals and encoding.
    """
    record = read_selection(selection)
    target = output or table.with_name(f"{bare_name(table)}-selected{table.name.removeprefix(bare_name(table))}")
    if target.exists() and not force:
        raise DataError(f"{target} exists already. Choose another --out, or give --force to replace it.")
    chosen = record["selected"]
    if k is not None:
        n_ranked, n_wanted = len(record["order"]), how_many(k)
        check_n_features("", n_wanted, n_ranked, "ranked features=", name="-k")
        chosen = record["order"][: n_kept(n_wanted, n_ranked)]
    if not chosen:
        raise DataError(
            f"{selection}: selects nothing at its false discovery rate. -k K takes the best K of its order."
        )
    source, dialect = _opened(table, reading)
    wanted = [*names_among([keep], source.column_names), *chosen]
    absent, _ = names_that_differ(wanted, source.column_names)
    if absent:
        raise DataError(f"{table}: has no column {listed(absent)}. It must hold the selected features by name.")
    taken = list(dict.fromkeys(wanted))
    streamed = isinstance(source, TableStream)
    parts = (part.select(taken) for part in source.batches(taken, ROWS)) if streamed else [source.select(taken)]
    write_parts(parts, target, dialect)
    n_kept_columns, of = len(taken), counted(source.num_columns, "column")
    say(f"{target}: {counted(source.num_rows, 'row')}, {n_kept_columns} of {of}.")


def _opened(table: Path, reading: Reading) -> tuple[Any, Dialect]:
    """The table, or a stream of a large one, and how it is written."""
    source = open_and_say(table, reading)
    if isinstance(source, TableStream):
        return source, source.dialect
    return source.table, source.dialect

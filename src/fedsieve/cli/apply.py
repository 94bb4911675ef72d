"""`fedsieve apply`: a table reduced to the selected features."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.checks import check_n_features, names_that_differ
from fedsieve.cli.console import say
from fedsieve.cli.options import how_many, names_among
from fedsieve.datasets.tables import read_table, write_table
from fedsieve.errors import DataError, listed
from fedsieve.ordering import n_kept
from fedsieve.selection_file import read_selection
from fedsieve.text import counted


def apply(
    table: Annotated[Path, typer.Argument(help="The table to reduce, CSV or Parquet.")],
    selection: Annotated[Path, typer.Option(help="A selection.json that 'fedsieve select' wrote.")],
    output: Annotated[Path | None, typer.Option("--out", help="The reduced table, .csv or .parquet.")] = None,
    keep: Annotated[str, typer.Option(help="Further columns to keep, such as an ID or labels: a,b.")] = "",
    k: Annotated[
        str | None, typer.Option("-k", help="Take the best K of the order, or a share, instead of the selected ones.")
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Reduce a table to the selected features, best first.

    [bold]Example[/bold]: fedsieve apply --selection result/selection.json siteA.csv

    Without --out the result lies beside the table, as siteA-selected.csv.
    """
    record = read_selection(selection)
    target = output or table.with_name(f"{table.stem}-selected{table.suffix}")
    if target.exists() and not force:
        raise DataError(f"{target} exists already. Choose another --out, or give --force to replace it.")
    chosen = record["selected"]
    if k is not None:
        n_ranked, n_wanted = len(record["order"]), how_many(k)
        check_n_features("", n_wanted, n_ranked, "ranked features=", name="-k")
        chosen = record["order"][: n_kept(n_wanted, n_ranked)]
    source = read_table(table)
    wanted = [*names_among([keep], source.column_names), *chosen]
    absent, _ = names_that_differ(wanted, source.column_names)
    if absent:
        raise DataError(f"{table}: has no column {listed(absent)}. It must hold the selected features by name.")
    write_table(source.select(list(dict.fromkeys(wanted))), target)
    n_kept_columns, of = len(dict.fromkeys(wanted)), counted(source.num_columns, "column")
    say(f"{target}: {counted(source.num_rows, 'row')}, {n_kept_columns} of {of}.")

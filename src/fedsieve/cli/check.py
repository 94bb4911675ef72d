"""`fedsieve check`: files of several sites beside each other, before anything is selected."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import columns_table, out, say, warn
from fedsieve.cli.options import NOMINAL_HELP, names_among
from fedsieve.cli.reading import AS_FOUND, reads_tables, say_how
from fedsieve.cli.speech import AsJson, document
from fedsieve.cli.tables import client_paths
from fedsieve.datasets.coding import reasons_listed
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.site_files import compare_files
from fedsieve.datasets.streams import TableStream, is_large
from fedsieve.datasets.table_files import TableFile
from fedsieve.datasets.tables import checked_stream, table_file
from fedsieve.errors import ParameterError, listed
from fedsieve.text import counted

FOUND = 1  # the exit code where something should be looked at
LABELED = "labeled"
ENOUGH = 3  # tables, of which a majority can say which one is odd


@reads_tables
def check(
    files: Annotated[list[str], typer.Argument(help="A site's rows: FILE, or NAME=FILE.", show_default=False)],
    labeled: Annotated[
        Path | None, typer.Option(help="The server's labeled rows; columns that no site has are its labels.")
    ] = None,
    nominal: Annotated[list[str] | None, typer.Option(help=NOMINAL_HELP)] = None,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Compare the files of several sites, and say what looks wrong; exit code 0 where nothing does, 1 else.

    Rows, missing values, columns with one value, missing or more columns, codes and
    words that no other site has, columns that are nearly the same, and columns that look
    as if they were in another unit. Never shows a value of a table.

    [bold]Example[/bold]: fedsieve check siteA.csv siteB.parquet siteC.csv --labeled server.csv
    """
    paths = client_paths(files, "check", least=1)
    if labeled is not None:
        if LABELED in paths:
            raise ParameterError(f"a site is called {LABELED!r}, as the labeled rows are here. Name it: NAME=FILE.")
        paths[LABELED] = labeled
    if len(paths) < 2:
        raise ParameterError("check compares two files or more; got 1. Name another one, or --labeled.")
    found = {name: _opened(path, reading) for name, path in paths.items()}
    tables = {name: one if isinstance(one, TableStream) else one.table for name, one in found.items()}
    known = {column for table in tables.values() for column in table.column_names}
    report = compare_files(tables, LABELED if labeled is not None else "", names_among(nominal or (), known))
    if as_json:
        document(report)
    else:
        for name, one in found.items():
            say_how(paths[name], one)
        out.print(columns_table(report["parties"], f"{len(paths)} files"))
        if report["labels"]:
            say(f"Taken for labels, since no site has them: {listed(report['labels'], 20)}.")
        if report["left_out"]:
            say(f"Not compared: {reasons_listed(report['left_out'])}.")
        if len(paths) < ENOUGH:
            say("Units were not compared: of two files nobody could say which one is odd. Name a third.")
        for line in report["findings"]:
            warn(line)
        say(f"{counted(len(report['findings']), 'finding')}." if report["findings"] else "Nothing looks wrong.")
    if report["findings"]:
        raise typer.Exit(FOUND)


def _opened(path: Path, reading: Reading) -> TableFile | TableStream:
    return checked_stream(path, reading) if is_large(path) else table_file(path, reading=reading)

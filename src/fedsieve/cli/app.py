"""The command `fedsieve` and its subcommands; errors meant for the user end here, as one line and exit code 2."""

import sys
from typing import Annotated

import typer

import fedsieve
from fedsieve.cli import apply, benchmark, datasets, demo, select
from fedsieve.cli.console import complain
from fedsieve.cli.federation.app import app as federation
from fedsieve.errors import FedSieveError

app = typer.Typer(
    name="fedsieve",
    help="Several sites agree on which features matter, without sharing their rows.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("select")(select.select)
app.command("apply")(apply.apply)
app.command("benchmark")(benchmark.benchmark)
app.add_typer(datasets.app, name="datasets")
app.add_typer(federation, name="federation")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fedsieve {fedsieve.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Options before the command."""


def run() -> None:
    """Run the command line."""
    try:
        app(prog_name="fedsieve")
    except FedSieveError as error:
        complain(error)
        sys.exit(2)

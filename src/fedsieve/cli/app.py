"""The command `fedsieve`. A command's file is loaded when it is called, so that `--help` loads none of them.

Errors meant for the user end here, as one line and exit code 2.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any, ClassVar

import click
import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

import fedsieve
from fedsieve.cli.console import complain
from fedsieve.errors import FedSieveError, extra_needed

EXTRAS = {"flwr": "flower", "cryptography": "flower", "ray": "simulation"}
"""Packages that some command files import, and the extra that brings each."""


class CommandFiles(TyperGroup):
    """A group whose commands are files of one package. Each has a function of its name, or `app`, a further group."""

    package: ClassVar[str]
    summaries: ClassVar[Mapping[str, str]]
    """Command -> the first paragraph of its help, which is all that the group's own help shows."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update({name: TyperCommand(name, help=text) for name, text in self.summaries.items()})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was called, from its file."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and self._load(ctx, command.name or ""), rest

    def _load(self, ctx: click.Context, name: str) -> click.Command:
        own_name = name.replace("-", "_") + "_" * iskeyword(name)
        try:
            file = import_module(f"{self.package}.{own_name}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            raise extra_needed(ctx.command_path, package, EXTRAS[package]) from None
        if hasattr(file, "app"):
            return get_group(file.app)
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        single.command(name)(getattr(file, own_name))
        return get_command(single)


class Commands(CommandFiles):
    """What `fedsieve` can do."""

    package = "fedsieve.cli"
    summaries: ClassVar[Mapping[str, str]] = {
        "demo": "Choose pixels of handwritten digits with ten sites, offline, in seconds.",
        "select": "Rank features from files: one with labeled rows, two or more with unlabeled rows.",
        "check": "Compare the files of several sites, and say what looks wrong; exit code 0 where nothing does, "
        "1 else.",
        "apply": "Reduce a table to the selected features, best first.",
        "rerank": "Select another number of features from the totals of an earlier run; no site is asked again.",
        "evaluate": "Judge a selection by cross-validation on labeled rows: is it worth it?",
        "compare": "Compare two selections: what both choose, what entered and left, how ranks moved.",
        "audit": "Attack a method's real answers, and say what a curious server could learn from them.",
        "benchmark": "Run experiments from TOML files; what is recorded already is not computed\n"
        "again, so an interrupted run is simply started once more.",
        "datasets": "The five datasets of the paper, and what is in a dataset.",
        "federation": "Run a selection with real sites over a network: init, request, site, serve, join, run.",
    }


app = typer.Typer(
    name="fedsieve",
    cls=Commands,
    help="Several sites agree on which features matter, without sharing their rows.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


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


def run_command() -> None:
    """Run the command that was typed."""
    try:
        app(prog_name="fedsieve")
    except FedSieveError as error:
        complain(error)
        sys.exit(2)

"""The command `fedsieve`. A command's file is loaded when it is called, so that `--help` loads none of them.

A command's own help loads its file. What takes long to load (scikit-learn, the kernels, the engine) is imported there
in the functions that need it, or does so itself.

Errors meant for the user end here, as one line and exit code 2.
"""

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any, ClassVar

import click
import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

import fedsieve
from fedsieve.cli.console import alarm, complain
from fedsieve.cli.speech import as_usual, speaking, where_it_arose
from fedsieve.errors import FedSieveError, extra_needed

INTERRUPTED = 130  # as shells count it: 128 and the signal's number
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
            with _without_collecting():
                file = import_module(f"{self.package}.{own_name}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            raise extra_needed(ctx.command_path, package, EXTRAS[package]) from None
        if hasattr(file, "app"):
            return speaking(get_group(file.app))
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        single.command(name)(getattr(file, own_name))
        return speaking(get_command(single))


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Load modules and never search them for garbage: they stay, and the search is an eighth of the time of a help."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


class Commands(CommandFiles):
    """What `fedsieve` can do."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; where Ctrl-C ends its work, that is said. What a server or a site ends with, they see to."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            alarm.print("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None

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
        "report": "Make a page of a result to look at in a browser: one file that needs no network.",
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


def every_command() -> Iterator[tuple[str, click.Command]]:
    """All commands by what is typed, groups before theirs; the file of each is loaded when its turn comes."""
    root = get_command(app)
    yield "fedsieve", root
    yield from _below("fedsieve", root)


def _below(path: str, group: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(group, click.Group):
        for name in group.commands:
            _, command, _ = group.resolve_command(click.Context(group, info_name=path), [name])
            assert command is not None, name
            yield f"{path} {name}", command
            yield from _below(f"{path} {name}", command)


def run_command() -> None:
    """Run the command that was typed."""
    as_usual()
    try:
        app(prog_name="fedsieve")
    except FedSieveError as error:
        complain(error)
        where_it_arose(error)
        sys.exit(2)
    finally:
        as_usual()  # whoever prints next in this process was not asked to be quiet

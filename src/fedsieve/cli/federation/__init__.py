"""`fedsieve federation`: a consortium's commands. The engine that carries messages shows up in none of their words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from fedsieve.cli.app import CommandFiles


class FederationCommands(CommandFiles):
    """What the operator and the sites can do."""

    package = "fedsieve.cli.federation"
    summaries: ClassVar[Mapping[str, str]] = {
        "init": "Make a federation: keys, certificates, federation.toml, and one folder per site to hand over.",
        "pack": "Put the present federation.toml into all site folders and pack them again; keys stay.",
        "site": "Add a site, give one a new key, or remove one. A running server takes notice within seconds.",
        "certificate": "Give the server a new certificate of the same authority, before the old one expires.",
        "serve": "Start the server and wait for sites; Ctrl-C ends it.",
        "join": "Take part with this site's rows: checks them, shows what will leave, asks for consent, "
        "then answers the server.",
        "run": "Run the rounds with the sites that are online, and give all of them the result.",
        "status": "Show who is online, and how the latest run goes: round, bytes, elapsed time.",
        "simulate": "Try a federation of many virtual sites on this machine, in Flower's simulation (Ray).",
    }


app = typer.Typer(
    cls=FederationCommands,
    help="Run a selection with real sites over a network: init, serve, join, run, status.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folder = Annotated[Path, typer.Argument(help="The operator's folder, made by 'init'.", show_default=False)]
LogFile = Annotated[Path | None, typer.Option(help="Log file; default fedsieve.log in the folder.")]
LogLevel = Annotated[str, typer.Option(help="debug, info, warning or error.")]

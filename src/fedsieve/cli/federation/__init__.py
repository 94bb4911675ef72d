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
        "try": "Try a federation with real processes: a server and three sites on this machine, with one command.",
        "init": "Make a federation: certificates, the operator's key, federation.toml. Each site makes its own key.",
        "request": "Make this site's folder with its own key, and a request to belong, to send to the operator.",
        "site": "Approve a site's own key, add, renew or remove a site. Every change is a new agreement: "
        "all must consent again.",
        "pack": "Pack the present federation.toml for all sites that have a key; keys stay.",
        "unpack": "Take the operator's files out of a tar into this site's folder; its key, rules and records stay as "
        "they are.",
        "diff": "Show what changed between two agreements; exit code 0 where they are the same, 1 where they differ.",
        "certificate": "Give the server a new certificate of the same authority, before the old one expires.",
        "serve": "Start the server and wait for sites; Ctrl-C ends it.",
        "join": "Take part with this site's rows: checks them, shows what will leave, asks for consent, "
        "then answers the server.",
        "edge": "Run an edge server: a site towards the server above, a server towards its own sites; Ctrl-C ends it.",
        "check": "Ask the sites for what tells of single columns, and say what looks wrong; exit code 0 where nothing "
        "does, 1 else.",
        "run": "Run the rounds with the sites that are online, and give all of them the result.",
        "collect": "After a run, get the rows of the selected columns from the sites that consent to that, one Parquet "
        "file each.",
        "approve-rows": "Let this site's rows of a run's selected columns leave: a second consent, which shows "
        "columns, rows and bytes.",
        "label": "After a run, send a model of the selected columns to the sites; each scores its own rows, and no row "
        "leaves.",
        "status": "Show who is online, and how the latest run goes: round, bytes, time; and what has followed it.",
        "log": "Show what left this site, message by message, from its own record; --verify checks that the record is "
        "whole.",
        "approve-cohort": "Allow secure sums with these sites, though totals of earlier runs would then tell of single "
        "ones by subtraction.",
        "purge": "Delete what is no longer needed: replies and totals of ended runs at the server, old results at a "
        "site.",
        "simulate": "Try a federation of many virtual sites on this machine, in Flower's simulation (Ray).",
    }


app = typer.Typer(
    cls=FederationCommands,
    help="Run a selection with real sites over a network: init, request, site, serve, join, run.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Folder = Annotated[Path, typer.Argument(help="The operator's folder, made by 'init'.", show_default=False)]
LogFile = Annotated[Path | None, typer.Option(help="Log file; default fedsieve.log in the folder.")]
LogLevel = Annotated[str, typer.Option(help="debug, info, warning or error.")]

"""`fedsieve federation check`: the first rounds of a run, to see what is wrong before anything is compared."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import columns_table, out, say, until_interrupted, warn
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.run import run_to_end, wait_for_sites
from fedsieve.deployment.folders import ServerFolder
from fedsieve.deployment.runs import CHECK, RunFolder, new_run
from fedsieve.errors import ParameterError, ProtocolError, listed
from fedsieve.protocol.checkup import findings
from fedsieve.text import counted
from fedsieve.transport.first_look import why_nothing_to_ask

FOUND = 1  # the exit code where something should be looked at
KINDS = {"asked": list[str], "refused": dict, "secure": bool, "parties": dict}


def check(
    folder: Folder,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Ask the sites for what tells of single columns, and say what looks wrong; exit code 0 where nothing does, 1 else.

    It asks what the agreement allows at the beginning of every run, stops before columns are compared, and counts as a
    run at the sites.

    [bold]Example[/bold]: fedsieve federation check fed/
    """
    federation = ServerFolder(folder)
    method = federation.agreement().method
    if why := why_nothing_to_ask(method):
        raise ParameterError(f"{method.name}: {why}")
    this = new_run(federation, *wait_for_sites(federation, wait, method.min_clients), check=True)
    finished = False
    with until_interrupted():
        run_to_end(federation, this)
        finished = True
    if not finished:
        raise ProtocolError(f"check {this.id} was interrupted. Start it again: fedsieve federation check {folder}")
    if show_check(this, as_json=as_json):
        raise typer.Exit(FOUND)


def show_check(this: RunFolder, *, as_json: bool) -> bool:
    """Print what a check found; returns whether anybody should look at something."""
    report = this.aside(CHECK, KINDS)
    assert report is not None
    absent = this.settings()["absent"]
    words = [
        *(f"{name} did not join." for name in absent),
        *(f"{name} refused: {reason}" for name, reason in report["refused"].items()),
        *findings(report),
    ]
    if as_json:
        typer.echo(json.dumps({"run": this.id, "absent": absent, **report, "findings": words}, indent=1))
        return bool(words)
    out.print(columns_table(report["parties"], f"Check {this.id}"))
    if report["secure"]:
        say(
            "Secure sums: totals over all sites are seen, no single site. How far its own rows lie from the others', "
            "each site finds in a run: fedsieve federation log FOLDER --shift"
        )
    for line in words:
        warn(line)
    say(f"Asked for: {listed(report['asked'], 20)}. No columns were compared. {_verdict(words, this.path / CHECK)}")
    return bool(words)


def _verdict(words: list[str], file: Path) -> str:
    return f"{counted(len(words), 'finding')}; all numbers are in {file}." if words else "Nothing looks wrong."

"""`fedsieve federation check`: the first rounds of a run, to see what is wrong before anything is compared."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import columns_table, out, say, warn
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.run import run_unless_interrupted, wait_for_sites
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.edge_agreement import refuse_edge_server
from fedsieve.deployment.runs import CHECK, RunFolder, new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import ParameterError, listed
from fedsieve.protocol.checkup import findings
from fedsieve.text import counted
from fedsieve.transport.first_look import why_nothing_to_ask

FOUND = 1  # the exit code where something should be looked at
KINDS = {"asked": list[str], "refused": dict, "secure": bool, "parties": dict}


def check(
    folder: Folder,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    as_json: AsJson = False,
) -> None:
    """Ask the sites for what tells of single columns, and say what looks wrong; exit code 0 where nothing does, 1 else.

    It asks what the agreement allows at the beginning of every run, stops before columns are compared, and counts as a
    run at the sites.

    [bold]Example[/bold]: fedsieve federation check fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    refuse_edge_server(agreement, folder, "check")
    method = agreement.method
    if why := why_nothing_to_ask(method):
        raise ParameterError(f"{method.name}: {why}")
    this = new_run(federation, *wait_for_sites(federation, wait, method.min_clients), check=True)
    again = f"fedsieve federation check {folder}"
    run_unless_interrupted(federation, this, f"check {this.id} was interrupted. Start it again: {again}")
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
        document({"run": this.id, "absent": absent, **report, "findings": words})
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

"""`fedsieve federation approve-cohort`: a site allows sums with fewer sites than before, and sees what that tells."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import out, say, warn
from fedsieve.cli.options import split_names
from fedsieve.deployment.folders import SiteFolder
from fedsieve.deployment.ledger import Ledger
from fedsieve.errors import DataError, ParameterError, ProtocolError, listed


def approve_cohort(
    folder: Annotated[Path, typer.Argument(help="The site's folder.", show_default=False)],
    sites: Annotated[str, typer.Option(help="All sites of the cohort, this one too: a,b,c.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Approve without being asked.")] = False,
) -> None:
    """Allow secure sums with these sites, though an earlier run's total would tell of one of them by subtraction.

    [bold]Example[/bold]: fedsieve federation approve-cohort siteA/ --sites siteA,siteB,siteC
    """
    site, names = SiteFolder(folder), sorted(split_names(sites))
    if not (folder / "site.json").is_file():
        raise DataError(f"{folder}: is no site's folder. Name the folder that 'fedsieve federation join' was given.")
    agreement = site.agreement()
    if not agreement.method.secure:
        raise ProtocolError(f"{folder}: its agreement has no secure sums, so that no cohort needs approval.")
    members = agreement.approved
    strangers = [name for name in names if name not in members]
    if strangers or site.name not in names or len(set(names)) < len(names):
        raise ParameterError(
            f"--sites must name members of the agreement, each once and {site.name!r} too; got {listed(names)}."
        )
    ledger = Ledger(site.ledger)
    for entry in ledger.cohorts():
        apart = sorted(set(names) ^ set(entry["sites"]))
        if apart:
            warn(
                f"run {entry['run']} told totals over {listed(entry['sites'])}. With totals over {listed(names)} the "
                f"operator can compute by subtraction the sums of {listed(apart)} alone: all that plain runs without "
                "secure sums would tell of them."
            )
    if not yes:
        if not out.is_terminal:
            raise ProtocolError("nobody is there to ask. Give --yes to approve unattended.")
        if not typer.confirm("Approve this cohort?", default=False):
            raise ProtocolError("not approved; nothing changed.")
    ledger.approve_cohort(names)
    say(f"{site.name} takes part in secure sums with {listed(names)}. Each other site of them must approve it too.")

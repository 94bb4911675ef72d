"""`fedsieve federation approve-cohort`: a site allows sums with fewer sites than before, and sees what that tells."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import can_ask, say, warn
from fedsieve.cli.options import split_names
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.told_cohorts import ToldCohorts
from fedsieve.errors import DataError, ParameterError, ProtocolError, listed

SIGNS = " (of some added, of others subtracted)"


def approve_cohort(
    folder: Annotated[Path, typer.Argument(help="The site's folder.", show_default=False)],
    sites: Annotated[str, typer.Option(help="All sites of the cohort, this one too: a,b,c.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Approve without being asked.")] = False,
    below: Annotated[
        Path | None,
        typer.Option(help="Of an edge server: the operator's folder of its own sites, of which --sites are."),
    ] = None,
) -> None:
    """Allow secure sums with these sites, though totals of earlier runs would then tell of single ones by subtraction.

    [bold]Example[/bold]: fedsieve federation approve-cohort siteA/ --sites siteA,siteB,siteC
    """
    site, names = SiteFolder(folder), sorted(split_names(sites))
    if not (folder / "site.json").is_file():
        raise DataError(f"{folder}: is no site's folder. Name the folder that 'fedsieve federation join' was given.")
    agreement = site.agreement() if below is None else ServerFolder(below).agreement()
    if below is None and not agreement.method.secure:
        raise ProtocolError(f"{folder}: its agreement has no secure sums, so that no cohort needs approval.")
    if below is not None and (agreement.above is None or agreement.above.client != site.name):
        raise DataError(f"{below}: is no federation of sites below {site.name}. Name the folder that 'edge' is given.")
    members, own = agreement.approved, [site.name] if below is None else []
    strangers = [name for name in names if name not in members]
    if strangers or not set(own) <= set(names) or len(set(names)) < len(names):
        too = f" and {site.name!r} too" if own else ""
        raise ParameterError(f"--sites must name members of the agreement, each once{too}; got {listed(names)}.")
    cohorts = ToldCohorts(site.ledger)
    for words in _what_it_tells(cohorts, names):
        warn(words)
    if not yes:
        if not can_ask():
            raise ProtocolError("nobody is there to ask. Give --yes to approve unattended.")
        if not typer.confirm("Approve this cohort?", default=False):
            raise ProtocolError("not approved; nothing changed.")
    cohorts.approve(names)
    if below is not None:
        say(f"{site.name} answers above for {listed(names)}.")
        return
    say(f"{site.name} takes part in secure sums with {listed(names)}. Each other site of them must approve it too.")


def _what_it_tells(cohorts: ToldCohorts, names: list[str]) -> Iterator[str]:
    """What totals over these sites tell beside each earlier total, and beside all those of one table together."""
    earlier = cohorts.told()
    for run, sites in dict.fromkeys((one.run, one.sites) for one in earlier):
        apart = sorted(set(names) ^ set(sites))
        if apart:
            yield (
                f"run {run} told totals over {listed(sites)}. With totals over {listed(names)} the operator can "
                f"compute by subtraction the sums of {listed(apart)} alone{SIGNS * (len(apart) > 1)}: of one site, all "
                "that plain runs without secure sums would tell."
            )
    for rows in dict.fromkeys(one.rows for one in earlier):
        of_one_table = [one for one in earlier if one.rows == rows]
        alone = cohorts.told_alone(of_one_table, names, 1)
        if alone:
            runs = dict.fromkeys(one.run for one in of_one_table)
            yield (
                f"with the totals of {listed(list(runs))} together, totals over {listed(names)} give the sums of "
                f"{listed(alone)} alone."
            )

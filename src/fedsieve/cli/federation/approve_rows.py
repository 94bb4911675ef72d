"""`fedsieve federation approve-rows`: the second consent, without which no row leaves; it shows what would."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsieve.cli.console import can_ask, out, say, warn
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.consent import ConsentRecord, ReleasedRows
from fedsieve.deployment.followed_run import FollowedRun
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import ProtocolError, listed
from fedsieve.privacy import why_forbidden
from fedsieve.text import counted, size, visible

COLLECT = "collect"


def approve_rows(
    folder: Annotated[Path, typer.Argument(help="The site's folder, while it has joined.", show_default=False)],
    run: Annotated[str | None, typer.Option(help="The run; default: the latest here; to --withdraw, all.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Consent without being asked.")] = False,
    by: Annotated[str, typer.Option(help="Who consents, a person or a role; default: this account.")] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="End the consent; what left stays where it is.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let this site's rows of a run's selected columns leave: a second consent, which shows columns, rows and bytes.

    [bold]Example[/bold]: fedsieve federation approve-rows siteA/
    """
    site = SiteFolder(folder)
    agreement, record = site.agreement(), ConsentRecord(folder)
    if withdraw:
        _withdraw(site.name, record, run, by)
        return
    this, policy = FollowedRun.chosen(site, run), read_policy(site)
    try:
        method = this.follow_up(COLLECT)
    except ProtocolError as error:  # in words that the server would add the site to
        raise ProtocolError(f"{site.name}: {error}") from None
    if reason := why_forbidden(method, policy):
        raise ProtocolError(f"{site.name}: {reason} Nothing was sent.")
    if not site.prepared.is_dir():
        raise ProtocolError(f"{site.name} has not joined, so that it has no rows to show. Join first, then approve.")
    released = this.released(method)
    out.print(_what_leaves(site, agreement, released))
    warn(
        f"these rows themselves go to {agreement.address}, where the operator of {agreement.name!r} can read them; "
        "no rule of this site changes them on the way."
    )
    if not yes:
        if not can_ask():
            raise ProtocolError(f"{site.name} did not consent: nobody is there to ask. Give --yes to consent so.")
        if not typer.confirm("Let these rows leave?", default=False):
            raise ProtocolError(f"{site.name} did not consent. Nothing was sent.")
    record.let_rows_leave(released, policy, by=by, asked=not yes)
    if as_json:
        document(released.facts())
    say(f"Recorded in {record.chain.path}. While you are joined, the operator gets them: fedsieve federation collect")


def _withdraw(name: str, record: ConsentRecord, run: str | None, by: str) -> None:
    """End the consent for a run, or for all; one that nobody gave is an error, so that no slip leaves another open."""
    holds = record.runs_let_go()
    if not holds or run not in (None, *holds):
        known = f"Rows may leave of {listed(holds, 20)}." if holds else "No rows may leave at present."
        raise ProtocolError(f"{name}: nothing to withdraw{'' if run is None else f' of run {run!r}'}. {known}")
    for one in holds if run is None else [run]:
        record.keep_rows(one, by=by)
        say(f"{name}: no rows of run {one} leave from now on. What left before stays where it is.")


def _what_leaves(site: SiteFolder, agreement: Agreement, released: ReleasedRows) -> Table:
    title = f"Rows of {site.name} that would leave after run {released.run}"
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column("what", no_wrap=True)
    table.add_column("which", overflow="fold")
    features = [name for name in released.columns if name not in agreement.labels]
    labels = [name for name in released.columns if name in agreement.labels]
    of_all = f"{counted(len(features), 'column')} of {len(agreement.method.features)}"
    table.add_row("columns", visible(f"{of_all}: {', '.join(features)}"))
    if labels:
        table.add_row("labels", visible(", ".join(labels)))
    table.add_row("rows", f"all {released.n_rows}")
    table.add_row("bytes", f"{released.n_bytes} ({size(released.n_bytes)})")
    return table

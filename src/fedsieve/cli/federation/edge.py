"""`fedsieve federation edge`: an edge server, a site towards the server above and a server towards its own sites."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import out, say, until_interrupted, warn
from fedsieve.cli.federation import LogFile, LogLevel
from fedsieve.cli.federation.consent import (
    ask,
    consent_document,
    leaving_recorded,
    leaving_table,
    policy_for,
    rules_table,
)
from fedsieve.cli.federation.fingerprints import show_members
from fedsieve.cli.federation.join import connected, following, wait_for_server
from fedsieve.cli.federation.serve import check_server, serves, start_engine, watching
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.edge_agreement import check_below
from fedsieve.deployment.lease import clear_rows, joined
from fedsieve.deployment.logs import choose_log, engine_log
from fedsieve.deployment.place import check_place
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import FedSieveError, listed
from fedsieve.files import holder
from fedsieve.privacy import Policy
from fedsieve.text import counted
from fedsieve.transport.flower.control import FINISHED, Control
from fedsieve.transport.flower.engine import EDGE, EDGE_LOCK, EngineError

POLL_SECONDS = 2
START_SECONDS = 60  # until the engine has started the process that asks the sites
ATTEMPTS = 5  # to start it again


def edge(
    folder: Annotated[
        Path,
        typer.Argument(help="The edge server's own folder as a site above, made by 'request'.", show_default=False),
    ],
    below: Annotated[
        Path,
        typer.Option(help="The operator's folder of its own sites, made by 'init --above FOLDER'.", show_default=False),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Consent without being asked.")] = False,
    by: Annotated[str, typer.Option(help="Who consents, a person or a role; default: this account.")] = "",
    host: Annotated[
        str, typer.Option(help="Where to listen for its own sites; loopback unless you say otherwise.")
    ] = "127.0.0.1",
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
) -> None:
    """Run an edge server: a site towards the server above, a server towards its own sites; Ctrl-C ends it.

    [bold]Example[/bold]: fedsieve federation edge edgeA/ --below edgeA-sites/

    Each question from above is put to its own sites at once, and answered with the total over them. Both are kept until
    the run has its result, so that an edge server that was started again answers as before.
    --log-file and --log-level are of what it says above; its server logs in the folder of --below.
    """
    check_place(folder)
    site, federation = SiteFolder(folder), ServerFolder(below)
    agreement = site.agreement()
    check_server(federation, host)
    check_below(site, federation.agreement(), below)
    show_members(site, agreement)
    policy = policy_for(site, agreement)
    own = federation.agreement()
    log, own_log = choose_log(folder, log_file, log_level), choose_log(federation.server, None, log_level)
    out.print(leaving_table(agreement, f"What leaves {site.name} (totals over the sites of {below})"))
    out.print(rules_table(policy))
    say(f"Its own sites: {listed(own.sites, 20)}. This edge server sees the answers of each of them.")
    say(f"To: {agreement.address}, federation {agreement.name!r}. Answers of single sites never leave.")
    if as_json:
        document(consent_document(site, agreement, policy))
    ask(site, yes=yes)
    with joined(site), serves(federation), until_interrupted():
        clear_rows(site)
        try:
            with leaving_recorded(_joined(site, federation, policy, by=by, asked=not yes)):
                _stand_between(site, federation, host, log, own_log)
        finally:
            shutil.rmtree(site.prepared, ignore_errors=True)
            say(f"{site.name} has ended.")


def _joined(site: SiteFolder, below: ServerFolder, policy: Policy, *, by: str, asked: bool) -> ConsentRecord:
    """Record in the site's folder who let it take part."""
    record, agreement = ConsentRecord(site.path), site.agreement()
    table = {"file": f"{counted(len(below.agreement().sites), 'site')} of {below.path.name}", "rows": "their"}
    record.join(agreement, policy, {**table, "columns": len(agreement.method.features)}, by=by, asked=asked)
    return record


def _stand_between(site: SiteFolder, below: ServerFolder, host: str, log: Path, own_log: Path) -> None:
    """First the server, so that sites can join while the one above is not there yet; then the site."""
    agreement = site.agreement()
    engine = start_engine(below, host, own_log)
    try:
        server, asking = watching(below, engine, host), _asking(below)
        next(server), next(asking)
        wait_for_server(site, agreement)
        node = connected(site, engine_log(log), below.path)
        try:
            say(f"{time.strftime('%H:%M:%S')} {site.name} is connected to {agreement.address}. Ctrl-C ends it.")
            for _ in zip(server, asking, following(site, node, log), strict=True):
                time.sleep(POLL_SECONDS)
        finally:
            node.stop()
    finally:
        engine.stop()


def _asking(below: ServerFolder) -> Iterator[None]:
    """Have the engine run the process that asks the sites, one look at a time; started again where it died."""
    for attempt in range(ATTEMPTS):
        with Control(below) as control:
            number = control.start(EDGE)
        end = time.monotonic() + START_SECONDS
        while holder(below.server / EDGE_LOCK) is None and time.monotonic() < end and not _gave_up(below, number):
            yield
        while holder(below.server / EDGE_LOCK) is not None:
            yield
        warn(f"the process that asks the sites of {below.path} is gone; starting it again (attempt {attempt + 2}).")
    raise EngineError(
        f"{below.path}: the process that asks its sites was lost {ATTEMPTS} times. See the logs in {below.server}."
    )


def _gave_up(below: ServerFolder, number: int) -> bool:
    try:
        with Control(below) as control:
            return control.run_state(number)[0] == FINISHED
    except FedSieveError:
        return False  # an engine that is busy; where it is gone, `watching` says so

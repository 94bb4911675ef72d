"""`fedsieve federation join`: a site checks its rows, consents, and answers the server until interrupted."""

import shutil
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.agreed_tables import site_table
from fedsieve.cli.console import err, say, until_interrupted
from fedsieve.cli.federation import LogFile, LogLevel
from fedsieve.cli.federation.consent import ask_for_consent, check_rows, consent_document, make_policy, policy_for
from fedsieve.cli.federation.dry_run import show_what_would_leave
from fedsieve.cli.federation.fingerprints import show_members
from fedsieve.cli.federation.live import Dashboard, DashboardPort, OpenMetrics, Show, Wanted, live_view
from fedsieve.cli.federation.rows import rows_to_answer_for, tell_what_is_held_back, warn_of_few_rows
from fedsieve.cli.labels import known_labels
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets.dialect import Reading
from fedsieve.deployment.agreement import Agreement, check_address
from fedsieve.deployment.consent import Limits
from fedsieve.deployment.lease import clear_rows, joined
from fedsieve.deployment.logs import choose_log, engine_log
from fedsieve.deployment.place import check_place
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.site_scores import what_stays
from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.tables import Table
from fedsieve.transport.flower.engine import EngineError
from fedsieve.transport.flower.listener import compare_clocks, greet_tls
from fedsieve.transport.flower.site_node import FORGOTTEN_SECONDS, SiteNode, was_killed

START_SECONDS = 60
POLL_SECONDS = 0.5
RETRY_SECONDS = 3
OUTSIDE_ITS_TIME = (9, 10)  # OpenSSL: not yet valid, expired
CONNECTED = "SuperNode ID:"  # what the engine logs once the server has let it in
REFUSED = "Failed to initialize the connection to the SuperLink"  # and what if it has not


@reads_tables
def join(
    folder: Annotated[Path, typer.Argument(help="The site's own folder, made by 'request'.")],
    data: Annotated[Path | None, typer.Option(help=f"This site's rows: {FORMATS}.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Consent without being asked.")] = False,
    by: Annotated[str, typer.Option(help="Who consents, a person or a role; default: this account.")] = "",
    for_runs: Annotated[int | None, typer.Option(help="Consent to so many runs.")] = None,
    for_days: Annotated[int | None, typer.Option(help="Consent for so many days.")] = None,
    init_policy: Annotated[
        bool, typer.Option("--init-policy", help="Only write policy.toml, this site's own rules, to change.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only write the numbers that would leave; nothing is sent.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--out", help="With --dry-run: where to; default dry-run/ in the site's folder.")
    ] = None,
    as_of: Annotated[
        bool, typer.Option("--as-of", help="Answer for the rows of the last run, though more rows are there now.")
    ] = False,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    dashboard: Dashboard = False,
    dashboard_port: DashboardPort = 0,
    open_metrics: OpenMetrics = False,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Take part with this site's rows: checks them, shows what will leave, asks for consent, then answers the server.

    [bold]Example[/bold]: fedsieve federation join siteA/ --data rows.parquet
    """
    wanted = Wanted("join", dashboard, dashboard_port, open_metrics)
    check_place(folder)
    site = SiteFolder(folder)
    if init_policy:
        written = make_policy(site)
        if as_json:
            document(written)
        return
    agreement, limits = site.agreement(), Limits(for_runs, for_days)
    show_members(site, agreement)
    policy = policy_for(site, agreement)
    if data is None:
        raise ParameterError("join needs this site's rows: --data FILE.")
    try:
        rows = site_table(data, agreement, reading, site.store)
        known = known_labels(data, agreement, reading)
        rows, known = rows_to_answer_for(site, agreement, policy, rows, known, as_of=as_of)
        check_rows(rows.n_rows, agreement, policy, data)
        warn_of_few_rows(agreement, policy, data, rows)
        if dry_run:
            rehearsed = show_what_would_leave(site, agreement, policy, rows, output or folder / "dry-run")
            if as_json:
                document(rehearsed)
            return
        log = choose_log(folder, log_file, log_level)
        if as_json:
            document(consent_document(site, agreement, policy))
        consent = ask_for_consent(site, agreement, policy, data, rows.n_rows, by=by, limits=limits, yes=yes)
        with joined(site), until_interrupted():
            clear_rows(site)
            try:
                with consent.recorded(folder):
                    if known is not None:
                        site.write_known_labels(known)
                    with live_view(wanted, "site", folder, folder) as show:
                        _take_part(site, agreement, rows, log, show)
            finally:
                shutil.rmtree(site.prepared, ignore_errors=True)
                say(f"{site.name} has left; nothing of its rows stays in {folder} but {what_stays(site)}.")
    finally:
        shutil.rmtree(site.incoming, ignore_errors=True)


def _take_part(site: SiteFolder, agreement: Agreement, rows: Table, log: Path, show: Show) -> None:
    prepare_kernels()
    wait_for_server(site, agreement)
    site.write_table(rows)
    if not agreement.method.private:  # noise hides rare values as they are
        tell_what_is_held_back(site)
    node = connected(site, engine_log(log))
    try:
        say(f"{time.strftime('%H:%M:%S')} {site.name} is connected to {agreement.address}. Ctrl-C ends it.")
        for _ in following(site, node, log):
            show(dict)
            time.sleep(POLL_SECONDS)
    finally:
        node.stop()


def connected(site: SiteFolder, log: Path, below: Path | None = None) -> SiteNode:
    """A node that the server has let in; one that was killed it takes for online, and lets no other in, for a while."""
    killed = was_killed(site)
    end = time.monotonic() + (FORGOTTEN_SECONDS if killed else 0)
    if killed:
        say(f"{site.name} was killed before; the server may take up to {FORGOTTEN_SECONDS} s to notice.")
    while True:
        try:
            return _let_in(site, log, below)
        except (ProtocolError, EngineError):
            if time.monotonic() > end:
                raise
        time.sleep(RETRY_SECONDS)


def _let_in(site: SiteFolder, log: Path, below: Path | None) -> SiteNode:
    start = log.stat().st_size
    try:
        node = SiteNode.start(site, log, below=below)
    except EngineError:  # the server's answer may be there before the node has opened its own door
        if REFUSED in _said(log, start):
            raise _not_let_in(site, log) from None
        raise
    try:
        _wait_until_connected(site, node, log, start)
    except BaseException:
        node.stop()
        raise
    return node


def wait_for_server(site: SiteFolder, agreement: Agreement) -> None:
    """Wait until the server is there; refuse one whose certificate is not of this federation."""
    host, port = check_address(agreement.address)
    with err.status(f"Waiting for the server at {agreement.address} ..."):
        while True:
            try:
                greet_tls(host, port, site.path / "ca.crt")
                break
            except ssl.SSLCertVerificationError as error:
                if error.verify_code in OUTSIDE_ITS_TIME:
                    now = time.strftime("%Y-%m-%d %H:%M")
                    raise ProtocolError(
                        f"the server's certificate is not valid at this machine's time, {now} ({error.verify_message})."
                        " Set the clock, or ask the operator for a new certificate. Nothing was sent."
                    ) from None
                raise ProtocolError(
                    f"the server at {agreement.address} is not of this federation: its certificate is not signed by "
                    f"{site.path / 'ca.crt'} ({error.verify_message}). Ask the operator; nothing was sent."
                ) from None
            except ssl.SSLError as error:
                raise ProtocolError(
                    f"the server at {agreement.address} does not speak TLS ({error.reason}). Nothing was sent."
                ) from None
            except OSError:
                time.sleep(1)


def _wait_until_connected(site: SiteFolder, node: SiteNode, log: Path, start: int) -> None:
    """Wait until the server lets this site in; say why if it does not."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if CONNECTED in _said(log, start):
            return
        if node.left:
            raise _not_let_in(site, log)
        time.sleep(0.2)
    raise EngineError(f"{site.name} could not connect within {START_SECONDS} s. Log: {log}")


def _said(log: Path, start: int) -> str:
    return log.read_bytes()[start:].decode(errors="replace")


def _not_let_in(site: SiteFolder, log: Path) -> ProtocolError:
    return ProtocolError(
        f"the server does not let {site.name} in: {_other_clock(site)}its key is not registered there, or no longer. "
        f"Ask the operator for a new folder. Log: {log}"
    )


def _other_clock(site: SiteFolder) -> str:
    """What the clocks explain, where they differ; nothing else is blamed before."""
    clocks = compare_clocks(*check_address(site.agreement().address), site.path / "ca.crt")
    if clocks is None or not clocks.differ:
        return ""
    return f"this machine's clock is {clocks}. Set both by NTP and join again. If they are right and it is refused, "


def following(site: SiteFolder, node: SiteNode, log: Path) -> Iterator[None]:
    """Show what this site's processes log, one look at a time; raises where it could not answer any more."""
    place = log.stat().st_size if log.exists() else 0
    while True:
        if node.left:
            raise ProtocolError(
                f"{site.name} was cut off: {_other_clock(site)}the server no longer knows its key (renewed or removed "
                f"there), or the engine failed. Join again; if that is refused, ask for a new folder. "
                f"Log: {node.node.log_file}"
            )
        node.check()
        if log.exists():
            with log.open(encoding="utf-8") as file:
                file.seek(place)
                for line in file.read().splitlines():
                    say(line)
                place = file.tell()
        yield

"""`fedsieve federation join`: a site checks its rows, consents, and answers the server until interrupted."""

import shutil
import socket
import ssl
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsieve.arrays import Float
from fedsieve.cli.console import err, out, say, until_interrupted
from fedsieve.cli.federation import LogFile, LogLevel
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.tables import read_rows
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import Agreement, check_address
from fedsieve.deployment.folders import SiteFolder, make_private
from fedsieve.deployment.logs import choose_log, engine_log
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import only_one
from fedsieve.privacy import what_leaves
from fedsieve.transport.flower.engine import (
    LOOPBACK,
    EngineError,
    EngineProcess,
    environment,
    free_port,
    supernode_command,
)
from fedsieve.transport.flower.guard import SITE, put_guards

START_SECONDS = 60
POLL_SECONDS = 0.5
CONNECTED = "SuperNode ID:"  # what the engine logs once the server has let it in


def join(
    folder: Annotated[Path, typer.Argument(help="The site's folder, as the operator handed it over.")],
    data: Annotated[Path, typer.Option(help="This site's rows, CSV or Parquet.")],
    yes: Annotated[bool, typer.Option("--yes", help="Consent without being asked.")] = False,
    log_file: LogFile = None,
    log_level: LogLevel = "info",
) -> None:
    """Take part with this site's rows: checks them, shows what will leave, asks for consent, then answers the server.

    [bold]Example[/bold]: fedsieve federation join siteA/ --data rows.parquet
    """
    site = SiteFolder(folder)
    agreement = site.agreement()
    X, Y = read_rows(data, agreement)
    log = choose_log(folder, log_file, log_level)
    _ask_for_consent(site, agreement, data, len(X), yes)
    busy = DataError(f"{folder}: has joined already, by another process.")
    with only_one(folder / "join.lock", busy), until_interrupted():
        try:
            _take_part(site, agreement, X, Y, log)
        finally:
            shutil.rmtree(site.prepared, ignore_errors=True)
            say(f"{site.name} has left; nothing of its rows stays in {folder}.")


def _take_part(site: SiteFolder, agreement: Agreement, X: Float, Y: Float | None, log: Path) -> None:
    prepare_kernels()
    _wait_for_server(site, agreement)
    make_private(site.prepared)
    site.write_rows(agreement.method.features, X, Y)
    make_local_certificate(site)
    env = {**environment(site.path / "engine", first=put_guards(site)), SITE: str(site.path.absolute())}
    engine_file = engine_log(log)
    start = engine_file.stat().st_size
    node = EngineProcess.start(supernode_command(site, free_port()), env, site.path / "supernode.pid", engine_file)
    try:
        _wait_until_connected(site, node, engine_file, start)
        say(f"{time.strftime('%H:%M:%S')} {site.name} is connected to {agreement.address}. Ctrl-C ends it.")
        _follow(site, node, log)
    finally:
        node.stop()


def _ask_for_consent(site: SiteFolder, agreement: Agreement, data: Path, n_rows: int, yes: bool) -> None:
    """Show what will leave this site, and ask."""
    table = Table(title=f"What leaves {site.name} ({n_rows} rows of {data})", title_justify="left")
    table.add_column("message", no_wrap=True)
    table.add_column("what it reveals", overflow="fold")
    for kind, meaning in what_leaves(agreement.method):
        table.add_row(kind, meaning)
    out.print(table)
    say(f"To: {agreement.address}, federation {agreement.name!r}. Rows themselves never leave.")
    if yes:
        return
    if not out.is_terminal:
        raise ProtocolError(f"{site.name} did not consent: nobody is there to ask. Give --yes to consent unattended.")
    if not typer.confirm("Take part?", default=False):
        raise ProtocolError(f"{site.name} did not consent. Nothing was sent.")


def _wait_for_server(site: SiteFolder, agreement: Agreement) -> None:
    """Wait until the server is there; refuse one whose certificate is not of this federation."""
    host, port = check_address(agreement.address)
    context = ssl.create_default_context(cafile=str(site.path / "ca.crt"))
    with err.status(f"Waiting for the server at {agreement.address} ..."):
        while True:
            try:
                with (
                    socket.create_connection((host, port), timeout=5) as plain,
                    context.wrap_socket(plain, server_hostname=host),
                ):
                    return
            except ssl.SSLCertVerificationError as error:
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


def make_local_certificate(site: SiteFolder) -> None:
    """Make a certificate for the engine's own listener on loopback, a new one at every start."""
    authority = keys.new_authority(site.name, 30)
    key, certificate = keys.new_certificate(authority, [LOOPBACK], 30)
    keys.write_certificate(authority[1], site.prepared / "local-ca.crt")
    keys.write_certificate(certificate, site.prepared / "local.crt")
    keys.write_private_key(key, site.prepared / "local.key", ssh=False)


def _wait_until_connected(site: SiteFolder, node: EngineProcess, log: Path, start: int) -> None:
    """Wait until the server lets this site in; say why if it does not."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        said = log.read_bytes()[start:].decode(errors="replace")
        if CONNECTED in said:
            return
        if node.process.poll() is not None:
            raise ProtocolError(
                f"the server does not let {site.name} in: its key is not registered there, or no longer. "
                f"Ask the operator for a new folder. Log: {log}"
            )
        time.sleep(0.2)
    raise EngineError(f"{site.name} could not connect within {START_SECONDS} s. Log: {log}")


def _follow(site: SiteFolder, node: EngineProcess, log: Path) -> None:
    """Show what this site's processes log, as it happens."""
    place = log.stat().st_size if log.exists() else 0
    while True:
        if node.process.poll() is not None:
            raise ProtocolError(
                f"{site.name} was cut off: the server no longer knows its key (renewed or removed there), or the "
                f"engine failed. Join again; if that is refused, ask for a new folder. Log: {node.log_file}"
            )
        if log.exists():
            with log.open(encoding="utf-8") as file:
                file.seek(place)
                for line in file.read().splitlines():
                    say(line)
                place = file.tell()
        time.sleep(POLL_SECONDS)

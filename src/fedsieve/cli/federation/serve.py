"""`fedsieve federation serve`: the server waits for its sites, and says who comes and goes."""

import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fedsieve.cli.agreed_tables import read_labeled
from fedsieve.cli.console import err, say, until_interrupted, warn
from fedsieve.cli.federation import Folder, LogFile, LogLevel
from fedsieve.cli.federation.live import Dashboard, DashboardPort, OpenMetrics, Wanted, live_view
from fedsieve.cli.federation.status import site_states
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.datasets.dialect import Reading
from fedsieve.deployment.agreement import check_address
from fedsieve.deployment.edge_agreement import refuse_edge_server
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.keys import days_left, read_certificate
from fedsieve.deployment.logs import choose_log, engine_log
from fedsieve.deployment.place import check_place
from fedsieve.deployment.server_folder import SERVES, ServerFolder
from fedsieve.errors import DataError, FedSieveError, ParameterError
from fedsieve.files import only_one
from fedsieve.transport.flower.control import Control, NodeState
from fedsieve.transport.flower.engine import LOOPBACK, EngineError, stop_left_over
from fedsieve.transport.flower.server_engine import ServerEngine

START_SECONDS = 60
POLL_SECONDS = 2
WARN_DAYS = 30
EVERYWHERE = ("0.0.0.0", "::")
Keys: TypeAlias = list[tuple[str, bytes]]


@reads_tables
def serve(
    folder: Folder,
    labeled: Annotated[Path, typer.Option(help=f"The server's labeled rows: {FORMATS}.")],
    host: Annotated[str, typer.Option(help="Where to listen; loopback unless you say otherwise.")] = "127.0.0.1",
    log_file: LogFile = None,
    log_level: LogLevel = "info",
    dashboard: Dashboard = False,
    dashboard_port: DashboardPort = 0,
    open_metrics: OpenMetrics = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Start the server and wait for sites; Ctrl-C ends it.

    [bold]Example[/bold]: fedsieve federation serve fed/ --labeled server.parquet --dashboard
    """
    wanted = Wanted("serve", dashboard, dashboard_port, open_metrics)
    federation = ServerFolder(folder)
    check_server(federation, host)
    agreement = federation.agreement()
    refuse_edge_server(agreement, folder, "serve")
    rows = read_labeled(labeled, agreement, reading)
    log = choose_log(federation.server, log_file, log_level)
    with serves(federation), until_interrupted():
        federation.write_labeled(rows.X, rows.Y)
        link = start_engine(federation, host, log)
        try:
            with live_view(wanted, "server", folder, federation.server) as show:
                for number, nodes in enumerate(watching(federation, link, host)):
                    if not number:
                        say(f"Run a selection from another terminal: fedsieve federation run {folder}")
                    show(partial(site_states, federation, nodes))
                    time.sleep(POLL_SECONDS)
        finally:
            link.stop()
            say("The server has ended.")


def check_server(folder: ServerFolder, host: str) -> None:
    """Refuse folders that others could change, and a place to listen that is none; warn of an old certificate."""
    for part in (folder.path, folder.server):
        check_place(part)
    folder.agreement()  # says what is wrong if this is no operator's folder
    if host not in (LOOPBACK, "localhost", *EVERYWHERE):
        raise ParameterError(
            f"--host must be {LOOPBACK}, localhost, or {EVERYWHERE[0]} for all networks; got {host!r}."
        )
    left = days_left(read_certificate(folder.server / "server.crt"))
    if left < WARN_DAYS:
        warn(
            f"the server's certificate expires in {left} days. Renew it: fedsieve federation certificate {folder.path}"
        )


def serves(folder: ServerFolder) -> AbstractContextManager[None]:
    """Hold the operator's folder, for this process alone."""
    return only_one(folder.server / SERVES, DataError(f"{folder.path}: is served already by another process."))


def start_engine(folder: ServerFolder, host: str, log: Path) -> ServerEngine:
    """Start the engine, for whoever holds the folder."""
    stop_left_over(folder.server / "superlink.pid", "flower-superlink")
    _check_port_is_free(check_address(folder.agreement().address)[1])
    return ServerEngine.start(folder, host, engine_log(log))


def watching(folder: ServerFolder, link: ServerEngine, host: str) -> Iterator[dict[str, NodeState]]:
    """Say who comes and goes, and yield how all are, one look at a time; ends with an error where the engine does."""
    nodes = _register(folder, link)
    link.check_login()
    _, port = check_address(folder.agreement().address)
    say(f"Serving {folder.path} on {host}:{port} (TLS, registered keys only). Ctrl-C ends it.")
    known, trouble = _keys(folder), ""
    shown: dict[str, str] = {}
    while True:
        for name, state in sorted(nodes.items()):
            if shown.get(name) != state.status and not (name not in shown and state.status == "registered"):
                say(f"{time.strftime('%H:%M:%S')} {name} is {state.status}")
            shown[name] = state.status
        yield nodes
        link.check()
        try:
            nodes, known = _look(folder, known)
            trouble = ""
        except (FedSieveError, OSError) as error:  # a file in the middle of a change, an engine that is busy
            if str(error) != trouble:
                trouble = str(error)
                warn(f"{trouble} The server goes on with what it knew before, and looks again.")


def _look(folder: ServerFolder, known: Keys) -> tuple[dict[str, NodeState], Keys]:
    """The sites' states, after the engine was told of new keys; `known` changes only once it knows them."""
    found = _keys(folder)
    with Control(folder) as control:
        if found == known:
            return control.nodes(), known
        nodes = control.register()
    say("The sites' keys changed; the engine knows the new ones.")
    return nodes, found


def _register(folder: ServerFolder, link: ServerEngine) -> dict[str, NodeState]:
    """Wait until the engine answers, then register the sites' keys with it."""
    end = time.monotonic() + START_SECONDS
    with err.status("Starting the engine ..."):
        while True:
            link.check()
            try:
                with Control(folder) as control:
                    return control.register()
            except EngineError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)


def _keys(folder: ServerFolder) -> Keys:
    files = sorted((folder.server / "keys").glob("*.pub"))
    return [(AGREEMENT, (folder.path / AGREEMENT).read_bytes()), *((file.name, file.read_bytes()) for file in files)]


def _check_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise DataError(
                f"port {port} cannot be used: {error.strerror}. Change [server] address in {AGREEMENT}."
            ) from None

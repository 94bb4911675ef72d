"""The engine's processes behind our commands: how they are started, watched and stopped.

Telemetry, update checks and package installation at run time are off; every listener is on loopback unless the operator
says otherwise. A party's engine is a meeting place (the server's, or a site's node) and an executor, which takes tasks
from it and starts a process for each.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment.agreement import check_address
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import FedSieveError
from fedsieve.text import visible

LOOPBACK = "127.0.0.1"
LAUNCHER = "fedsieve.transport.flower.launch"
SITE = "FEDSIEVE_SITE"  # the environment variable that says where a site's folder is
BELOW = "FEDSIEVE_BELOW"  # and, of an edge server, where the folder lies of the federation with its own sites
FEDERATION = "FEDSIEVE_FEDERATION"  # and, of the server's process, where the operator's folder is
CONTROL_TOKEN = "FEDSIEVE_CONTROL_TOKEN"  # and the one that says which file holds the operator's token
TASK_POLL = "FLWR_SUPEREXEC_TASK_POLL_INTERVAL"
SWITCHES = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    TASK_POLL: "0.25",  # seconds until an idle executor looks for a task again; the engine's own is 1
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # silences a tip about GPUs
    "PYTHONUNBUFFERED": "1",
    "PYTHONSAFEPATH": "1",  # no module from the folder where a command was started, which may be anybody's
}


TASK_SECRET = "tasks.secret"  # in each party's own folder
EDGE = "edge"  # what the engine is told to run instead of a run's id, which begins with a date
EDGE_LOCK = "edge.lock"  # held by the process of an edge server that asks its sites


class EngineError(FedSieveError, RuntimeError):
    """A process of the engine did not start, or ended."""


def environment(home: Path, *, first: Path | None = None, **extra: str) -> dict[str, str]:
    """The environment of a party's processes: the engine's files in its own folder, its commands on the path.

    Commands in the folder `first` stand before the engine's; none is looked for in the folder where we were started.
    """
    folders = [first.absolute()] if first else []
    others = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    commands = os.pathsep.join(map(str, [*folders, Path(sys.executable).parent, *others]))
    return {**os.environ, **SWITCHES, "PATH": commands, "FLWR_HOME": str(make_private(home).absolute()), **extra}


def superlink_command(folder: ServerFolder, host: str) -> list[str]:
    """The server's meeting place: TLS, and only registered keys may enter."""
    _, port = check_address(folder.agreement().address)
    server = folder.server.absolute()
    return [
        "flower-superlink",
        *("--host", host, "--port", str(port)),
        *_tls(server / "ca.crt", server / "server.crt", server / "server.key"),
        "--enable-supernode-auth",
        "--disable-runtime-dependency-installation",
        *("--database", str(server / "engine" / "state.db")),
        *_tasks_for_those_who_know(server / TASK_SECRET),
    ]


def supernode_command(site: SiteFolder, port: int) -> list[str]:
    """A site's node: calls out to the server, listens on loopback only, for its own processes."""
    own = site.prepared.absolute()
    return [
        "flower-supernode",
        *("--superlink", site.agreement().address),
        *("--root-certificates", str((site.path / "ca.crt").absolute())),
        *("--auth-supernode-private-key", str((site.path / "site.key").absolute())),
        *("--host", LOOPBACK, "--port", str(port)),
        *_tls(own / "local-ca.crt", own / "local.crt", own / "local.key"),
        *_tasks_for_those_who_know(own / TASK_SECRET),
    ]


def superexec_command(port: int, authority: Path, secret: Path) -> list[str]:
    """The executor of a party whose meeting place listens on this port."""
    return [
        "flower-superexec",
        *("--runtime-api-address", f"{LOOPBACK}:{port}"),
        *("--root-certificates", str(authority.absolute())),
        *("--superexec-auth-secret-file", str(secret.absolute())),
    ]


def _tasks_for_those_who_know(secret: Path) -> list[str]:
    """The executor is ours; whoever else asks for a task is refused."""
    return ["--isolation", "process", "--superexec-auth-secret-file", str(secret)]


def _tls(ca: Path, certificate: Path, key: Path) -> list[str]:
    return ["--ssl-ca-certfile", str(ca), "--ssl-certfile", str(certificate), "--ssl-keyfile", str(key)]


@dataclass
class EngineProcess:
    """One process of the engine, known by the file that holds its pid."""

    name: str
    process: subprocess.Popen[bytes]
    pid_file: Path
    log_file: Path

    @classmethod
    def start(cls, command: list[str], env: dict[str, str], pid_file: Path, log_file: Path) -> "EngineProcess":
        """Start it, to end with this process; one left over from a killed command is stopped first."""
        stop_left_over(pid_file, command[0])
        launched = [sys.executable, "-m", LAUNCHER, str(os.getpid()), *command]
        with log_file.open("ab") as log:
            process = subprocess.Popen(
                launched, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        pid_file.write_text(str(process.pid), encoding="utf-8")
        return cls(command[0], process, pid_file, log_file)

    def check(self) -> None:
        """Raise if it ended, with the last thing it said."""
        code = self.process.poll()
        if code is not None:
            raise EngineError(f"{self.name} ended with code {code}: {_last_words(self.log_file)} Log: {self.log_file}")

    def stop(self, patience: float = 10) -> None:
        """End it and its children; kindly, then firmly."""
        _stop_group(self.process.pid, patience, lambda: self.process.poll() is not None)
        self.process.wait()
        self.pid_file.unlink(missing_ok=True)


def stop_left_over(pid_file: Path, name: str) -> None:
    """Stop a process that a killed command left behind; it must still be what the file says."""
    try:
        pid = int(pid_file.read_text(encoding="utf-8"))
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    if name.encode() in command:
        _stop_group(pid, 10, lambda: not Path(f"/proc/{pid}").exists())
    pid_file.unlink(missing_ok=True)


def free_port() -> int:
    """A port on loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _stop_group(pid: int, patience: float, ended: Callable[[], bool]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            return
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if ended():
                break
            time.sleep(0.05)
        else:
            continue
        return


def _last_words(log_file: Path) -> str:
    lines = log_file.read_text(encoding="utf-8", errors="replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    return visible(" ".join(said[-3:])[-400:])

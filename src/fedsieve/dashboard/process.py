"""The side of the command that is looked at: starts the view's process, says how its sites are, and ends it.

The view has a process of its own, so that whatever happens to it, and whoever opens connections to it, the command goes
on. It ends when its standard input does, so that it never outlives the command. Nothing here raises once it has begun.
"""

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from fedsieve.deployment.folders import write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.place import check_owner
from fedsieve.errors import FedSieveError, ParameterError, extra_needed
from fedsieve.files import write_atomically

LOOPBACK = "127.0.0.1"
TOKEN, ADDRESS, LOG = "dashboard.token", "dashboard.url", "dashboard.log"
SIGNS = "dashboard.json"  # what the command says of its sites; when it was last touched is a sign of life
NEEDED = ("starlette", "uvicorn", "jinja2")
END_SECONDS = 3


def check_parts(owner: str) -> None:
    """Name the extra that brings what is missing."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise extra_needed(owner, package, "dashboard")


def check_port(port: int) -> None:
    """Refuse what is no port."""
    if not 0 <= port <= 65535:
        raise ParameterError(f"--dashboard-port must be in [0, 65535], 0 for a free one; got {port}.")


@dataclass
class LiveView:
    """A view that was started, and its files in the party's own folder, which nobody else may read."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    address: str
    states: Mapping[str, str] = field(default_factory=dict)
    _told: Mapping[str, str] | None = None
    _ended: bool = field(default=False)

    @classmethod
    def start(cls, kind: str, looked_at: Path, folder: Path, port: int, *, open_metrics: bool = False) -> "LiveView":
        """Start the view of a party; its files lie in `folder`. Raises `OSError` or `FedSieveError` where it cannot."""
        for name in (TOKEN, ADDRESS, SIGNS, LOG):
            check_owner(folder / name)
        token = secrets.token_urlsafe(32)
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((LOOPBACK, port))
            listening.listen(64)
            address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/{token}/"
            _write(folder / TOKEN, token)
            _write(folder / ADDRESS, address)
            (folder / SIGNS).unlink(missing_ok=True)
            (folder / LOG).unlink(missing_ok=True)
            (folder / LOG).touch(mode=PRIVATE)
            number = listening.fileno()
            where = [kind, str(looked_at.absolute()), str(number), str((folder / TOKEN).absolute())]
            with (folder / LOG).open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "fedsieve.dashboard", *where, *["--open-metrics"] * open_metrics],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=[number],
                    start_new_session=True,
                )
        return cls(folder, process, address)

    def give_sign(self) -> str:
        """Say how the sites are, which is a sign of life too; returns what is wrong with the view, once."""
        try:
            if self.states != self._told:
                write_json(self.folder / SIGNS, dict(self.states), mode=PRIVATE)
                self._told = dict(self.states)
            else:
                os.utime(self.folder / SIGNS)
        except (OSError, FedSieveError):
            self._told = None  # a full disk; the view says that it hears nothing
        if self.process.poll() is None or self._ended:
            return ""
        self._ended = True
        return f"the live view has ended (code {self.process.returncode}). Log: {self.folder / LOG}."

    def stop(self) -> None:
        """End it; its token is worth nothing from then on."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with suppress(OSError):
            for name in (TOKEN, ADDRESS, SIGNS):
                (self.folder / name).unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    write_atomically(file, lambda path: path.write_text(f"{text}\n", encoding="utf-8"), mode=PRIVATE)

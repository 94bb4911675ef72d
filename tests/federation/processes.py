"""Processes of a test, known by a mark in their environment: whatever they start carries it too, wherever it ends up.

So a test can look at, stop and kill exactly what it started, by pid, also where the parent was killed before.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fedsieve.kernels.threads import VARIABLE

MARK = "FEDSIEVE_TEST_PARTY"
FEDSIEVE = str(Path(sys.executable).parent / "fedsieve")
LISTENING = "0A"
# Seconds until a test gives up on what takes two to twenty on a quiet machine. No limit is nearer: another federation
# may be at work, and what is tested is what happens, not how soon.
PATIENCE = 300


def new_token() -> str:
    return secrets.token_hex(8)


def all_cores() -> dict[str, str]:
    """The environment without the tests' one thread: real processes have as many as they find."""
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """The first true value of the condition; fails, and says for what was waited, when the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {seconds} s for: {what}"
        time.sleep(0.05)


def environ(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty if it is gone or not ours to read."""
    try:
        content = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return dict(part.partition("=")[::2] for part in content.decode(errors="replace").split("\0") if "=" in part)


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def marked(mark: str) -> list[int]:
    """The pids of all living processes that carry a mark: that of a party, or a token for those of all parties."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    own = os.getpid()
    return [pid for pid in pids if pid != own and f"{environ(pid).get(MARK, '')}/".startswith(f"{mark}/")]


def send(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def kill_marked(mark: str) -> None:
    """SIGKILL until none is left: one may start another in between."""
    end = time.monotonic() + PATIENCE
    while pids := marked(mark):
        assert time.monotonic() < end, f"cannot be killed: {[command_line(pid) for pid in pids]}"
        send(pids, signal.SIGKILL)
        time.sleep(0.05)


def listeners(pids: Sequence[int]) -> set[str]:
    """The addresses, as hexadecimal, on which these processes accept TCP connections."""
    inodes = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING:
                inodes[fields[9]] = fields[1].partition(":")[0]
    found = set()
    for pid in pids:
        try:
            links = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:
            continue
        found |= {inodes[link[8:-1]] for link in links if link.startswith("socket:[") and link[8:-1] in inodes}
    return found


def _hears_its_terminal() -> None:
    """As started from a terminal, also where the tests themselves were told not to end with theirs (nohup)."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Command:
    """A command in a session of its own, its output in a file."""

    def __init__(self, arguments: Sequence[object], mark: str, log: Path, env: dict[str, str] | None = None) -> None:
        self.arguments, self.log, self.mark = [str(part) for part in arguments], log, mark
        settings = {"COLUMNS": "200", "NO_COLOR": "1", MARK: mark}
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                self.arguments,
                env={**all_cores(), **(env or {}), **settings},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                preexec_fn=_hears_its_terminal,
            )

    @property
    def text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def message(self) -> str:
        """The one line that says what is wrong."""
        lines = [line for line in self.text.splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, f"{self.arguments} said:\n{self.text}"
        assert "Traceback" not in self.text
        return lines[0]

    def says(self, words: str, seconds: float = PATIENCE) -> None:
        """Wait for words in the output; fails at once if the command ends without them."""
        wait_until(lambda: words in self.text or self.process.poll() is not None, seconds, f"{words!r} in {self.log}")
        assert words in self.text, f"{self.arguments} ended without {words!r}:\n{self.text}"

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code."""
        wait_until(lambda: self.process.poll() is not None, seconds, f"the end of {self.arguments}")
        return self.process.wait()

    def end(self, seconds: float = PATIENCE) -> int:
        """Tell it to end, as a service manager does; the exit code."""
        send([self.process.pid], signal.SIGTERM)
        return self.wait(seconds)

    def kill(self) -> None:
        """SIGKILL of the command alone; what it started lives on."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def kill_all(self) -> None:
        """SIGKILL of the command and of everything it started."""
        self.kill()
        kill_marked(self.mark)

"""Tasks as forks of a process that has loaded everything, instead of programs that start anew for each message.

The executor keeps one such process, single-threaded and idle, and hands it what it would have started: command line and
the file with the task's token. Each task still is a process of its own, that begins with none of another's memory, and
goes through the same guard. Whatever is wrong with the waiting process, tasks start anew as the engine has it.
"""

import ctypes
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

WARM = "FEDSIEVE_WARM"  # the environment variable that names the program to keep ready; a user's 0 means none
CLIENT, SERVER = "flwr-clientapp", "flwr-serverapp"
LOAD_SECONDS = 60  # for the waiting process to load what it needs, on a busy machine
MAX_BYTES = 1 << 16  # of a command line
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15


def kept_ready(program: str) -> dict[str, str]:
    """The variable for an executor that keeps this program ready, unless the user wants none."""
    return {WARM: "" if os.environ.get(WARM) == "0" else program}


class ColdError(Exception):
    """A task cannot be a fork, for a reason; it has to be started anew."""


class Warm:
    """The executor's end: a waiting process of one program."""

    def __init__(self, program: str) -> None:
        if sys.platform != "linux":
            raise ColdError("only Linux ends a fork with its parent")
        self.program = program
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", __name__, program, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        self._channel.settimeout(LOAD_SECONDS)

    def launch(self, command: list[str], file: int, *, quiet: bool) -> int:
        """Have a command carried out, that reads its token from the file of this number; the pid of its process."""
        if os.path.basename(command[0]) != self.program:
            raise ColdError(f"{command[0]} is not kept ready")
        try:
            socket.send_fds(self._channel, [json.dumps([command, file, quiet]).encode()], [file])
            said = self._channel.recv(MAX_BYTES).decode()
        except OSError as error:
            self.close()
            raise ColdError(f"the waiting process does not answer ({type(error).__name__})") from None
        if not said.isdecimal():
            self.close()
            raise ColdError(said or "the waiting process has ended")
        return int(said)

    def close(self) -> None:
        """Let it end; a command that it was sent and did not take is not carried out any more."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


def wait_for_tasks(channel: socket.socket, program: str) -> None:
    """Fork for each command that comes; returns in the fork only, where `sys.argv` is that command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks, and none stays behind
    gc.collect()
    gc.freeze()  # what was loaded stays shared between all forks
    while True:
        data, files, _, _ = socket.recv_fds(channel, MAX_BYTES, 1)
        if not data:
            sys.exit()
        command, number, quiet = json.loads(data)
        if threading.active_count() > 1:
            _refuse(channel, "the waiting process has threads, which a fork would lose")
        pid = os.fork()
        if pid == 0:
            break
        for file in files:
            os.close(file)
        channel.send(str(pid).encode())
    channel.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_NAME, program.encode(), 0, 0, 0)
    if quiet:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    here = f"/dev/fd/{files[0]}"
    sys.argv = [here if part == f"/dev/fd/{number}" else part for part in command]


def _refuse(channel: socket.socket, reason: str) -> NoReturn:
    channel.send(reason.encode())
    sys.exit(1)


def load(program: str) -> Callable[[], None]:
    """Everything that the program needs, loaded but not begun; returns how to begin."""
    import httpcore  # noqa: F401  (the engine's client would load it in every fork, with its first call)

    from fedsieve import kernels

    if program == CLIENT:
        from flwr.supernode.cli import flwr_clientapp  # noqa: F401

        from fedsieve.transport.flower import client_app, guard  # noqa: F401

        begin = guard.main
    else:
        from flwr.superlink.cli.flwr_serverapp import flwr_serverapp

        from fedsieve.transport.flower import launch, server_app  # noqa: F401

        launch.pull_sooner("flwr.superlink.grid.http_grid")
        begin = flwr_serverapp
    kernels.warm_up()
    return begin


def main() -> None:
    """The waiting process: `python -m fedsieve.transport.flower.warm PROGRAM NUMBER_OF_THE_SOCKET`."""
    program, number = sys.argv[1], int(sys.argv[2])
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)  # and the end of the socket says it too
    channel = socket.socket(fileno=number)
    begin = load(program)
    wait_for_tasks(channel, program)
    begin()


if __name__ == "__main__":
    main()

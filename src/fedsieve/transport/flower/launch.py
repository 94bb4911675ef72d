"""The engine's programs as our commands start them: they end with the command, and do less than they could.

`python -m fedsieve.transport.flower.launch PARENT PROGRAM ...` runs a program of the engine in this process, with what
we change of it. Each change is one name of one module, and `tests/transport/flower/test_engine_seams.py` fails where a
new version of the engine no longer looks there.
"""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fedsieve.deployment.folders import SiteFolder
from fedsieve.deployment.lease import forget_rows
from fedsieve.transport.flower.engine import CONTROL_TOKEN, SITE

POLL_SECONDS = 0.1
PATIENCE = 10  # seconds for a program to end in good order
PR_SET_PDEATHSIG = 1
NODE = "flwr.supernode.start_client_internal"


def end_with(parent: int, last: Callable[[], None] | None = None) -> None:
    """End this process once its parent is gone, in whatever way; `last` is done before.

    Linux tells us at once; where it does not, or where the program does not listen, a thread sees to it.
    """

    def leave() -> None:
        if last is not None and os.getppid() != parent:
            last()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        leave()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os.kill(os.getpid(), signal.SIGKILL)

    atexit.register(leave)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # in good order, until the program has its own way
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    threading.Thread(target=watch, daemon=True).start()


def take_place(module: str, name: str, ours: object) -> None:
    """Put something of ours in the place of what a module of the engine calls by this name; it must be there."""
    place = import_module(module)
    getattr(place, name)
    setattr(place, name, ours)


def superlink() -> None:
    """The server's meeting place, with a login at its control interface."""
    from flwr.superlink.cli import flower_superlink

    from fedsieve.transport.flower.login import OperatorOnly, read_secret

    token = read_secret(Path(os.environ[CONTROL_TOKEN]))
    take_place("flwr.superlink.cli.flower_superlink", "load_control_authn_plugin", lambda: OperatorOnly(token))
    flower_superlink()


def supernode() -> None:
    """A site's node. It never looks into the app that the server sends: ours needs no configuration from there."""
    from flwr.supernode import start_client_internal
    from flwr.supernode.cli.flower_supernode import flower_supernode

    take_place(NODE, "get_fused_config_from_fab", lambda *_: {})
    take_place(NODE, "_pull_and_store_message", forgetting(start_client_internal._pull_and_store_message))
    flower_supernode()


def forgetting(pull: Callable[..., int | None]) -> Callable[..., int | None]:
    """As the engine's function that pulls a message, but one whose run ended while it came is forgotten.

    A node has one message at a time, and the engine sends whatever reply there is. It keeps such a message, replies to
    it by an error once its process hangs, and from then on is one reply behind: online, and too late in every run.
    """

    def pull_or_forget(**how: Any) -> int | None:
        run_id = pull(**how)
        if run_id is None:  # nothing is under way
            how["state"].delete_messages()
        return run_id

    return pull_or_forget


def superexec() -> None:
    """What starts a process for each task; the task's token is handed over unseen, not in a command line."""
    from flwr.supercore.cli.flower_superexec import flower_superexec

    take_place("flwr.supercore.superexec.executor.subprocess_executor", "subprocess", HandsOver)
    flower_superexec()


class HandsOver:
    """Takes the place of `subprocess` where tasks are started: `--token X` becomes a file that has no name."""

    DEVNULL = subprocess.DEVNULL

    @staticmethod
    def Popen(args: list[str], **options: Any) -> "subprocess.Popen[bytes]":  # noqa: N802
        """Start a task's process."""
        place = args.index("--token")
        with tempfile.TemporaryFile() as file:
            file.write(args[place + 1].encode())
            file.flush()
            unseen = ["--token-file", f"/dev/fd/{file.fileno()}"]
            command = [*args[:place], *unseen, *args[place + 2 :]]
            return subprocess.Popen(command, pass_fds=[file.fileno()], **options)


PROGRAMS = {"flower-superlink": superlink, "flower-supernode": supernode, "flower-superexec": superexec}


def main() -> None:
    """Run the program that the command line names."""
    parent, program = int(sys.argv[1]), sys.argv[2]
    site = os.environ.get(SITE)
    end_with(parent, (lambda: forget_rows(SiteFolder(Path(site)))) if site else None)
    sys.argv = sys.argv[2:]
    PROGRAMS[program]()


if __name__ == "__main__":
    main()

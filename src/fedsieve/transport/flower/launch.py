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

from fedsieve.deployment.lease import forget_rows
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.transport.flower.engine import CONTROL_TOKEN, SITE, SWITCHES, TASK_POLL
from fedsieve.transport.flower.pace import Pace, executor_pace, node_pace, sooner, why_its_own
from fedsieve.transport.flower.warm import WARM, ColdError, Warm

POLL_SECONDS = 0.1
PATIENCE = 10  # seconds for a program to end in good order
LAST_SECONDS = 60  # for rows to be removed before: the engine would end a process after five, in the middle of that
PR_SET_PDEATHSIG = 1
NODE = "flwr.supernode.start_client_internal"
EXECUTOR, STARTER = "flwr.supercore.superexec.run_superexec", "flwr.supercore.superexec.executor.subprocess_executor"


def end_with(parent: int, last: Callable[[], None] | None = None) -> None:
    """End this process once its parent is gone, in whatever way; `last` is done before.

    Linux tells us at once; where it does not, or where the program does not listen, a thread sees to it. The process
    waits for a thread that is about it, which would end with it in the middle.
    """
    one_at_a_time = threading.Lock()

    def leave() -> None:
        if last is not None and os.getppid() != parent:
            with one_at_a_time:
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

    from fedsieve.transport.flower.login import OperatorOnly
    from fedsieve.transport.flower.secret import read_secret

    token = read_secret(Path(os.environ[CONTROL_TOKEN]))
    take_place("flwr.superlink.cli.flower_superlink", "load_control_authn_plugin", lambda: OperatorOnly(token))
    flower_superlink()


def supernode() -> None:
    """A site's node. It never looks into the app that the server sends: ours needs no configuration from there."""
    from flwr.supernode import start_client_internal
    from flwr.supernode.cli.flower_supernode import flower_supernode

    site = os.environ.get(SITE)
    pace = node_pace(len(SiteFolder(Path(site)).agreement().sites) if site else 1)
    set_pace(NODE, pace)
    pull_sooner(NODE)
    take_place(NODE, "get_fused_config_from_fab", lambda *_: {})
    pull = forgetting(start_client_internal._pull_and_store_message, pace.work_came)
    take_place(NODE, "_pull_and_store_message", pull)
    flower_supernode()


def set_pace(module: str, pace: Pace) -> None:
    """Give a module of the engine our pace, or say why it keeps its own."""
    if reason := why_its_own():
        print(reason, file=sys.stderr)
    else:
        take_place(module, "time", pace)


def pull_sooner(module: str) -> None:
    """Let a module of the engine pause for less long while a message is on its way, if the engine takes our pace."""
    if not why_its_own():
        take_place(module, "pull_objects", sooner(import_module(module).pull_objects))


def forgetting(pull: Callable[..., int | None], came: Callable[[], None]) -> Callable[..., int | None]:
    """As the engine's function that pulls a message, but one whose run ended while it came is forgotten.

    A node has one message at a time, and the engine sends whatever reply there is. It keeps such a message, replies to
    it by an error once its process hangs, and from then on is one reply behind: online, and too late in every run.
    `came` is told of each message that did come.
    """

    def pull_or_forget(**how: Any) -> int | None:
        run_id = pull(**how)
        if run_id is None:  # nothing is under way
            how["state"].delete_messages()
        else:
            came()
        return run_id

    return pull_or_forget


def superexec() -> None:
    """What starts a process for each task: a fork of one that waits, or anew."""
    from flwr.supercore.cli.flower_superexec import flower_superexec

    pace = executor_pace(float(SWITCHES[TASK_POLL]))
    set_pace(EXECUTOR, pace)
    take_place(STARTER, "subprocess", Starter(os.environ.get(WARM, ""), pace.work_came))
    flower_superexec()


class Starter:
    """Takes the place of `subprocess` where tasks are started.

    The task's token is handed over unseen: `--token X`, for all to read in a command line, becomes a file that has no
    name. `program` is what a waiting process is kept for, if any.
    """

    DEVNULL = subprocess.DEVNULL

    def __init__(self, program: str = "", came: Callable[[], None] = lambda: None) -> None:
        self._warm, self._came = None, came
        if program:
            try:
                self._warm = Warm(program)
            except ColdError as reason:
                self._go_cold(reason)

    def Popen(self, args: list[str], **options: Any) -> "subprocess.Popen[bytes] | int":  # noqa: N802
        """Start a task's process; the pid where it is a fork, which is nobody's here to wait for."""
        self._came()
        place = args.index("--token")
        with tempfile.TemporaryFile() as file:
            file.write(args[place + 1].encode())
            file.flush()
            file.seek(0)  # some systems' /dev/fd is read from where we are
            unseen = ["--token-file", f"/dev/fd/{file.fileno()}"]
            command = [*args[:place], *unseen, *args[place + 2 :]]
            if self._warm is not None:
                try:
                    return self._warm.launch(command, file.fileno(), quiet="stdout" in options)
                except ColdError as reason:
                    self._go_cold(reason)
            return subprocess.Popen(command, pass_fds=[file.fileno()], **options)

    def _go_cold(self, reason: ColdError) -> None:
        print(f"tasks are started anew: {reason}.", file=sys.stderr)
        self._warm = None


PROGRAMS = {"flower-superlink": superlink, "flower-supernode": supernode, "flower-superexec": superexec}


def main() -> None:
    """Run the program that the command line names."""
    parent, program = int(sys.argv[1]), sys.argv[2]
    site = os.environ.get(SITE)
    end_with(parent, (lambda: forget_rows(SiteFolder(Path(site)))) if site else None)
    if site:
        take_place("flwr.supercore.exit.exit", "FORCE_EXIT_TIMEOUT_SECONDS", LAST_SECONDS)
    sys.argv = sys.argv[2:]
    PROGRAMS[program]()


if __name__ == "__main__":
    main()

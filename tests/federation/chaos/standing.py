"""A federation that outlives its cases: whoever was killed or stopped in one is there again before the next."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from federation.consortium import Consortium
from federation.processes import send, wait_until
from federation.tables import FEATURES
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import ONLINE, Control
from fedsieve.transport.flower.engine import EngineError

SITES = "siteA,siteB,siteC,siteD"  # of four, secure sums go on without one
TIMEOUT = 150  # seconds for an answer: on a busy machine no site is slow; the engine notices dead ones in about 50
BACK_SECONDS = 240
LEAVE_SECONDS = 120


@contextmanager
def standing(
    folder: Path, *options: object, changes: dict[str, str] | None = None, n_rows: int = 12
) -> Iterator[Consortium]:
    """Sieve with declared ranges and no gaps, so that rounds are few; at the end all leave, no rows or secrets stay."""
    ranges = folder / "ranges.csv"
    ranges.write_text("\n".join(["feature,low,high", *(f"{name},1e6,9e6" for name in FEATURES)]), encoding="utf-8")
    usual = ("--method", "Sieve", "--ranges", ranges, "--missing", "error", "--timeout", TIMEOUT)
    with Consortium(folder, SITES, n_rows=n_rows, waits=False).init(*usual, *options, changes=changes) as consortium:
        consortium.serve()
        consortium.join_all()
        yield consortium
        heal(consortium)
        for name in consortium.names:
            join = joins(consortium, name)[-1]
            assert join.end(LEAVE_SECONDS) == 0, join.text
            assert not (consortium.site(name) / "prepared").exists()


def joins(consortium, name):
    """All commands by which a site joined, the last one last."""
    return [one for one in consortium.commands if one.mark == consortium.mark(name) and "join" in one.arguments]


def heal(consortium: Consortium) -> None:
    """Let the stopped go on and the killed come back; wait until the server sees all sites."""
    send(consortium.pids(), signal.SIGCONT)
    if not consortium.pids("server"):
        consortium.serve()
    for name in consortium.names:
        if joins(consortium, name)[-1].process.poll() is not None:
            consortium.kill_site(name)  # what a killed command left behind ends by itself, but not at once
            consortium.join(name, ready=False)
    for name in consortium.names:
        joins(consortium, name)[-1].says("is connected to", BACK_SECONDS)
    wait_until(lambda: online(consortium) == set(consortium.names), BACK_SECONDS, "all sites online")


def online(consortium: Consortium) -> set[str]:
    try:
        with Control(ServerFolder(consortium.fed)) as control:
            return {name for name, state in control.nodes().items() if state.status == ONLINE}
    except EngineError:
        time.sleep(1)
        return set()

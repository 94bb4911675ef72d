"""A federation's real processes for a benchmark, and how much memory each kind took at most."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.lease import joined
from fedsieve.transport.flower.control import ONLINE, Control
from fedsieve.transport.flower.engine import LOOPBACK, EngineError
from fedsieve.transport.flower.server_engine import ServerEngine
from fedsieve.transport.flower.site_node import SiteNode

if TYPE_CHECKING:  # nothing else of it is needed: benchmarks.scaling measures older packages by this, too
    from fedsieve.deployment.server_folder import ServerFolder

KINDS = ("federation join", "flower-superlink", "flwr-serverapp", "flower-supernode", "flwr-clientapp", "flower.guard")


@contextmanager
def server(folder: ServerFolder) -> Iterator[None]:
    link = ServerEngine.start(folder, LOOPBACK, folder.server / "engine.log")
    try:
        until(lambda: _registered(folder, link), 60)
        yield
    finally:
        link.stop()


def _registered(folder: ServerFolder, link: ServerEngine) -> bool:
    link.check()
    try:
        with Control(folder) as control:
            return bool(control.register())
    except EngineError:
        return False


@contextmanager
def sites(folder: ServerFolder, *, guarded: bool, port: int | None = None) -> Iterator[None]:
    """All sites, connected; with our guard as `join` starts them, or plain for another app; through `port`."""
    with ExitStack() as stack:
        for name in folder.agreement().sites:
            site = folder.site(name)
            if port:
                text = (site.path / AGREEMENT).read_text(encoding="utf-8")
                own = folder.agreement().address.rpartition(":")[2]
                (site.path / AGREEMENT).write_text(text.replace(f":{own}", f":{port}"), encoding="utf-8")
            stack.enter_context(joined(site))
            node = SiteNode.start(site, site.path / "engine.log", guarded=guarded)
            stack.callback(node.stop)
        with Control(folder) as control:
            until(lambda: all(state.status == ONLINE for state in control.nodes().values()), 120)
        yield


def until(done, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s")
        time.sleep(0.1)


class PeakMemory:
    """Looks at all processes that know a folder and keeps the largest resident size of each kind, in MB."""

    def __init__(self, mark: str) -> None:
        self._mark, self.megabytes = mark.encode(), dict.fromkeys(KINDS, 0.0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    words = (process / "cmdline").read_bytes()
                    if self._mark not in words + (process / "environ").read_bytes():
                        continue
                    command = words.replace(b"\0", b" ").decode()
                    status = (process / "status").read_text()
                except OSError:
                    continue
                kind = next((kind for kind in KINDS if kind in command), None)
                peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), None)
                if kind and peak:
                    self.megabytes[kind] = max(self.megabytes[kind], int(peak) / 1024)

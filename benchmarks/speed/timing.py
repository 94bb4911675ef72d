"""Best-of-several timing, and time and memory of a whole process, as figures."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.row import Row


def best_of(work: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of several runs, after one that is not counted."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def in_fresh_process(module: str, *arguments: str) -> dict[str, float]:
    """Run `python -m module arguments`, which prints a JSON object on its last line, and return that."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


def times_as_fast(what: str, peer: str, peer_seconds: float, ours: float, target: float | None = None) -> Row:
    """Our speed-up over a peer; the seconds of both are in no record: they are the machine's."""
    print(f"{what}: {peer} {peer_seconds * 1e3:.1f} ms, ours {ours * 1e3:.1f} ms")
    return Row(f"{what}, times as fast as {peer}", peer_seconds / ours, "x", "more", target)


def whole_process(what: str, seconds: float, megabytes: float | None, module: str, *arguments: str) -> list[Row]:
    """Seconds and peak memory of a process of its own, beside what they may be."""
    measured = in_fresh_process(module, *arguments)
    return [
        Row(f"{what}, seconds", measured["seconds"], "s", "less", seconds),
        Row(f"{what}, peak memory", measured["peak_mb"], "MB", "less", megabytes),
    ]

"""Best-of-several timing, and time and memory of a whole process."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


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

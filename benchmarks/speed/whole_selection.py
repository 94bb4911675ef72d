"""A whole selection with Corel5k's shape, ten clients, 5000 x 499; as a module it is the process that is measured."""

import json
import sys
import time

import numpy as np

from benchmarks.row import Row
from benchmarks.speed.timing import whole_process
from fedsieve.experiments.runner import peak_megabytes

TARGETS = {"0/1": (5.0, 1000.0), "continuous": (60.0, None)}


def rows() -> list[Row]:
    """Seconds and peak memory, each in a process of its own."""
    found = list[Row]()
    for kind, (seconds, megabytes) in TARGETS.items():
        what = f"{kind}, ten clients, 5000 x 499"
        found += whole_process(what, seconds, megabytes, "benchmarks.speed.whole_selection", kind)
    return found


def main(kind: str) -> None:
    from fedsieve import SSFMLFS
    from fedsieve.kernels import warm_up

    rng = np.random.default_rng(0)
    warm_up()
    table = rng.random((6000, 499))
    X = (table < 0.02).astype(np.float64) if kind == "0/1" else table
    Y = (rng.random((1000, 374)) < 0.02).astype(np.int64)
    clients = np.split(X[1000:], 10)
    start = time.perf_counter()
    SSFMLFS(wire="statistics").fit(X[:1000], Y, clients=clients)
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


if __name__ == "__main__":
    main(sys.argv[1])

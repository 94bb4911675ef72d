"""A site that is a cluster: Sieve with a Dask array on two worker processes, beside the same rows in one place.

Time is CPU seconds of all processes together. Then once more with a worker killed halfway.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

N_PARTS, PART_ROWS, N_FEATURES = 16, 25_000, 50


def rows() -> list[Row]:
    found = measured("benchmarks.scaling.cluster_site")
    site = f"a site of {N_PARTS * PART_ROWS:,} x {N_FEATURES} on two workers"
    return [
        Row(f"{site}: scores and relevance differ from one place's by at most", found["off"], "", "less", 1e-12),
        Row(f"{site}, one killed halfway: the same", found["off_killed"], "", "less", 1e-12),
        Row(f"{site}: time, of one place's", found["ratio"], "x", "less"),
        Row(f"{site}: time", found["seconds"], "CPU s", "less"),
        Row(f"{site}, one killed halfway: time by the clock, of none killed", found["delay"], "x", "less"),
    ]


def main() -> dict[str, float]:
    import dask
    import dask.array as da
    import distributed

    from fedsieve import Sieve
    from fedsieve.kernels import warm_up

    warm_up()
    X, other = _part(-1)[:200], _part(-2)[:200]
    Y = (X[:, :5] + X[:, 5:10] > 0).astype(int)

    def scores(site: object) -> np.ndarray:
        """And the relevance, which moves with the sums where scores need not."""
        fitted = Sieve(10).fit(X, Y, clients=[site, other])
        return np.concatenate([fitted.scores_, fitted.relevance_])

    whole = np.concatenate([_part(number) for number in range(N_PARTS)])
    scores(whole[:1000])  # compiles what is left
    expected, here = _cpu_seconds(lambda: scores(whole), lambda: 0.0)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        parts = [dask.delayed(_part)(number) for number in range(N_PARTS)]
        blocks = [da.from_delayed(part, (PART_ROWS, N_FEATURES), np.float64) for part in parts]
        site = client.persist(da.concatenate(blocks))
        distributed.wait(site)
        scores(site)  # the workers load what they need
        start = time.perf_counter()
        found, there = _cpu_seconds(lambda: scores(site), lambda: sum(client.run(time.process_time).values()))
        clock = time.perf_counter() - start
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(clock / 2, os.kill, (victim, signal.SIGKILL))
        start = time.perf_counter()
        timer.start()
        found_killed = scores(site)
        clock_killed = time.perf_counter() - start
        assert timer.finished.is_set(), "it ended before a worker was killed"
    return {
        "off": float(np.abs(found - expected).max()),
        "off_killed": float(np.abs(found_killed - expected).max()),
        "ratio": there / here,
        "seconds": there,
        "delay": clock_killed / clock,
    }


def _part(number: int) -> np.ndarray:
    """Rows that a worker makes, and can make again."""
    return np.random.default_rng(number + 100).normal(size=(PART_ROWS, N_FEATURES))


def _cpu_seconds(work: Callable[[], np.ndarray], others: Callable[[], float]) -> tuple[np.ndarray, float]:
    """What it returns, and its CPU seconds here and in other processes."""
    start, elsewhere = time.process_time(), others()
    found = work()
    return found, time.process_time() - start + others() - elsewhere


if __name__ == "__main__":
    print(json.dumps(main()))

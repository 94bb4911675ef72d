"""A site that is a cluster: a Dask array on two worker processes, beside the same rows in one place.

Sieve beside an array; SSFMLFS, which samples rows, beside a streamed Parquet file, of which it draws the same sample.
Time is CPU seconds of all processes together. Then once more with a worker killed halfway.
"""

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import Row
from benchmarks.scaling.processes import measured

N_PARTS, PART_ROWS, N_FEATURES = 16, 25_000, 50


def rows() -> list[Row]:
    told, site = [], f"a site of {N_PARTS * PART_ROWS:,} x {N_FEATURES} on two workers"
    for name, found in measured("benchmarks.scaling.cluster_site").items():
        of = f"{site}{'' if name == 'Sieve' else f', {name}'}"
        told += [
            Row(f"{of}: scores and relevance differ from one place's by at most", found["off"], "", "less", 1e-12),
            Row(f"{of}, one killed halfway: the same", found["off_killed"], "", "less", 1e-12),
            Row(f"{of}: time, of one place's", found["ratio"], "x", "less"),
            Row(f"{of}: time", found["seconds"], "CPU s", "less"),
            Row(f"{of}, one killed halfway: time by the clock, of none killed", found["delay"], "x", "less"),
        ]
    return told


def main() -> dict[str, dict[str, float]]:
    import pyarrow as arrow
    from pyarrow import parquet

    from fedsieve import SSFMLFS, Sieve
    from fedsieve.datasets.streamed_file import open_table
    from fedsieve.kernels import warm_up

    warm_up()
    whole = np.concatenate([_part(number) for number in range(N_PARTS)])
    with tempfile.TemporaryDirectory(prefix="fedsieve-bench-") as folder:
        file = Path(folder) / "rows.parquet"
        parquet.write_table(arrow.table(dict(zip((f"x{p}" for p in range(N_FEATURES)), whole.T, strict=True))), file)
        return {
            "Sieve": _compared(lambda: Sieve(10), whole),
            "SSFMLFS": _compared(lambda: SSFMLFS(10, random_state=0), open_table(file)),
        }


def _compared(selector: Callable[[], Any], here: Any) -> dict[str, float]:
    """On the cluster and here, of which a small part was fitted before: it compiles what is left."""
    import dask
    import dask.array as da
    import distributed

    labeled, other = _part(-1)[:200], _part(-2)[:200]
    Y = (labeled[:, :5] + labeled[:, 5:10] > 0).astype(int)

    def scores(site: object) -> np.ndarray:
        """And the relevance, which moves with the sums where scores need not."""
        fitted = selector().fit(labeled, Y, clients=[site, other])
        return np.concatenate([fitted.scores_, fitted.relevance_])

    scores(_part(0)[:1000])
    expected, alone = _cpu_seconds(lambda: scores(here), lambda: 0.0)
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
        "ratio": there / alone,
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

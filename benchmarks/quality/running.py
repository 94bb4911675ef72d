"""One dataset and seed: every contender that has no record is run and recorded."""

import os
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.quality.classifiers import measured
from benchmarks.quality.contenders import contenders, orders
from benchmarks.quality.design import key
from fedsieve.arrays import dense
from fedsieve.datasets import load
from fedsieve.datasets.registry import entry
from fedsieve.experiments.config import Run
from fedsieve.experiments.evaluation import deal_out
from fedsieve.experiments.records import Records
from fedsieve.kernels.threads import VARIABLE

RECORDS = Records(Path(__file__).with_name("records.jsonl"))


def run(dataset: str, seed: int) -> str:
    """One dataset and seed: all contenders that have no record."""
    start, recorded = time.perf_counter(), RECORDS.read()
    waiting = [contender for contender in contenders() if key(dataset, seed, contender) not in recorded]
    if not waiting:
        return f"{dataset}, seed {seed}: recorded"
    data, k = load(dataset), entry(dataset).k
    X, rows = dense(data.X), deal_out(Run(dataset, "", seed=seed), data)
    for contender in waiting:
        began = time.perf_counter()
        found = orders(contender, X, data.Y, rows, k, seed)
        seconds = time.perf_counter() - began
        n_kept = X.shape[1] if contender.name == "all features" else k
        metrics = measured(X, data.Y, rows, found, n_kept)
        RECORDS.append(
            {"key": key(dataset, seed, contender), "metrics": metrics, "seconds": round(seconds, 3), "k": n_kept}
        )
    return f"{dataset}, seed {seed}: {len(waiting)} runs in {time.perf_counter() - start:.0f} s"


def one_thread() -> None:
    """For a process that shares the machine with others."""
    os.environ[VARIABLE] = "1"
    threadpool_limits(1)

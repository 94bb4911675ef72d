"""Run what is not recorded yet, two processes at a time, then write the tables of `docs/selection-quality.md`."""

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from benchmarks.quality.design import DATASETS, SEEDS
from benchmarks.quality.page import write_tables
from benchmarks.quality.running import RECORDS, one_thread, run

JOBS = 2


def main(*datasets: str) -> None:
    """All datasets, or the named ones."""
    tasks = [(dataset, seed) for dataset in datasets or DATASETS for seed in SEEDS]
    with ProcessPoolExecutor(JOBS, mp_context=get_context("spawn"), initializer=one_thread) as pool:
        for done in as_completed([pool.submit(run, *task) for task in tasks]):
            print(done.result(), flush=True)
    write_tables(RECORDS.read())


if __name__ == "__main__":
    main(*sys.argv[1:])

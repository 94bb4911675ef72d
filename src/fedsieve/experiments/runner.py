"""Many runs: what is recorded is not computed again, and an interruption loses only what was under way."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from threadpoolctl import threadpool_limits

from fedsieve.experiments.config import Experiment, Run
from fedsieve.experiments.evaluation import check_run, evaluate
from fedsieve.experiments.records import Record, Records
from fedsieve.kernels.threads import VARIABLE, thread_count


def pending(experiment: Experiment, records: Records) -> list[Run]:
    """The runs of an experiment that have no record yet."""
    done = records.read()
    runs = [run for method in experiment.methods for run in experiment.runs(method)]
    return [run for run in dict.fromkeys(runs) if run.key() not in done]


def compute(
    runs: Iterable[Run], records: Records, *, jobs: int = 1, tell: Callable[[Record], None] = lambda _: None
) -> None:
    """Evaluate the runs, each record written as soon as it is there; `tell` hears of each."""
    waiting = list(runs)
    for run in {(run.dataset, run.method, run.parameters, run.labeled): run for run in waiting}.values():
        check_run(run)  # a mistake is an error before any work
    if jobs == 1:
        for run in waiting:
            _keep(_evaluate(run, records), records, tell)
        return
    # The heavy parts are threaded; processes share the cores among them.
    threads = max(1, thread_count() // jobs)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_limit_threads, initargs=(threads,))
    try:
        for done in as_completed([pool.submit(_evaluate, run, records) for run in waiting]):
            _keep(done.result(), records, tell)
    finally:
        pool.shutdown(cancel_futures=True)


def _evaluate(run: Run, records: Records) -> Record:
    """The record of a run; another process may have written it in the meantime."""
    return records.read().get(run.key()) or evaluate(run)


def _keep(record: Record, records: Records, tell: Callable[[Record], None]) -> None:
    records.append(record)
    tell(record)


def _limit_threads(n_threads: int) -> None:
    os.environ[VARIABLE] = str(n_threads)
    threadpool_limits(n_threads)

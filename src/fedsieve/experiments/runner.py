"""Many trials: what is recorded is not computed again, and an interruption loses only what was under way."""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from fedsieve.datasets import Dataset
from fedsieve.experiments.classifiers import CLASSIFIERS
from fedsieve.experiments.config import Experiment, Trial
from fedsieve.experiments.evaluation import Evaluation, measure, scale
from fedsieve.experiments.records import Record, Records
from fedsieve.experiments.selection import Selected, check_trials, deal_out, load_by_name, select, shifted
from fedsieve.kernels.threads import VARIABLE, thread_count
from fedsieve.protocol import bytes_by_client, bytes_by_kind
from fedsieve.values import dense
from fedsieve.versions import versions

_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Task:
    """A trial and the evaluations that its record lacks."""

    trial: Trial
    evaluations: tuple[Evaluation, ...]

    def left(self, known: Record | None) -> "Task":
        """What of it is still to do."""
        done = known["metrics"] if known else {}
        return replace(self, evaluations=tuple(e for e in self.evaluations if e.name not in done))


def pending(experiment: Experiment, records: Records) -> list[Task]:
    """What an experiment needs and has no record of: seed by seed, dataset by dataset, so that parts are complete."""
    done = records.read()
    found = [trial for row in experiment.contenders for trial in experiment.trials(row)]
    places = [{value: place for place, value in enumerate(of)} for of in (experiment.seeds, experiment.datasets)]
    found.sort(key=lambda trial: (places[0][trial.seed], places[1][trial.dataset]))
    trials = {trial.key(): trial for trial in found}
    tasks = [Task(trial, experiment.evaluations).left(done.get(key)) for key, trial in trials.items()]
    return [task for task in tasks if task.evaluations]


def compute(
    tasks: Iterable[Task], records: Records, *, jobs: int = 1, tell: Callable[[Trial], None] = lambda _: None
) -> None:
    """Do the tasks, each recorded as soon as it is done; `tell` hears of each."""
    waiting = list(tasks)
    check_trials(task.trial for task in waiting)  # a mistake is an error before any work
    if jobs == 1:
        for task in waiting:
            _do(task, records)
            tell(task.trial)
        return
    # The heavy parts are threaded; processes share the cores among them. Each reads the records by itself.
    threads = max(1, thread_count() // jobs)
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_limit_threads, initargs=(threads,))
    try:
        for done in as_completed([pool.submit(_do_there, task, records.path) for task in waiting]):
            tell(done.result())
    finally:
        pool.shutdown(cancel_futures=True)


def evaluate(task: Task, known: Record | None = None) -> Record:
    """The record of a task: what was selected and at what cost, and the metrics per evaluation.

    Where the `known` record says what was selected, only the classifiers run.
    """
    trial = task.trial
    watch = _Watch()
    data = load_by_name(trial.dataset)
    X, rows = dense(data.X), deal_out(trial, data)
    record: Record = {"key": trial.key(), "trial": asdict(trial), "metrics": {}, "versions": versions()}
    watch.lap("prepare")
    reset_peak()
    selected = _recorded(known, data)
    if selected is None:
        selected = select(trial, shifted(trial, X, rows), data.Y, rows)
        watch.lap("select")
        record |= _facts(selected, data)
        clients = [len(part) for part in rows.clients]
        record["rows"] = {"server": len(rows.server), "clients": clients, "test": len(rows.test)}
    known_values: dict[Evaluation, dict[str, float]] = {}
    for evaluation in task.evaluations:
        draws = [evaluation.seen(columns, X.shape[1]) for columns in selected.draws]
        judged = replace(evaluation, share=len(draws[0]) / len(selected.draws[0]))  # all features are judged once
        if judged not in known_values:
            table = scale(X, rows.train) if evaluation.scaling == "scaled" else X
            taught = rows.train if evaluation.classifier_labels == "all" else rows.server
            known_values[judged] = measure(table, data.Y, taught, rows.test, draws, CLASSIFIERS[evaluation.classifier])
        record["metrics"][evaluation.name] = known_values[judged]
    watch.lap("classify")
    return {**record, "seconds": watch.seconds, "cpu_seconds": watch.cpu_seconds, "peak_mb": peak_megabytes()}


class _Watch:
    """How long the parts of a task took, by the clock and in time of all processors."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}
        self._last = time.perf_counter(), time.process_time()

    def lap(self, part: str) -> None:
        now = time.perf_counter(), time.process_time()
        self.seconds[part], self.cpu_seconds[part] = (b - a for a, b in zip(self._last, now, strict=True))
        self._last = now


def reset_peak() -> None:
    """Measure peak memory from here on; elsewhere than on Linux it stays that of the whole process."""
    if _RESET.exists():
        _RESET.write_text("5")


def peak_megabytes() -> float:
    """The largest resident size since `reset_peak`."""
    if _PEAK.exists():
        line = next(line for line in _PEAK.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _recorded(known: Record | None, data: Dataset) -> Selected | None:
    """The selection that a record tells; it does not tell the draws of random features."""
    if known is None:
        return None
    n_features = data.X.shape[1]
    if known.get("k") == n_features:
        return Selected([np.arange(n_features)])
    if known.get("selected") is None:
        return None
    column = {name: index for index, name in enumerate(data.feature_names)}
    return Selected([np.array([column[name] for name in known["selected"]])])


def _facts(selected: Selected, data: Dataset) -> Record:
    columns = selected.draws[0]
    told = len(columns) < data.X.shape[1] and len(selected.draws) == 1
    return {
        "k": len(columns),
        **({} if selected.own_k is None else {"own_k": selected.own_k}),
        "selected": [data.feature_names[p] for p in columns] if told else None,
        "bytes": bytes_by_kind(selected.transcript),
        "client_bytes": bytes_by_client(selected.transcript),
    }


def _do(task: Task, records: Records) -> Trial:
    """Compute and record what is missing; another process may have written it in the meantime."""
    known = records.read().get(task.trial.key())
    left = task.left(known)
    if left.evaluations:
        records.append(evaluate(left, known))
    return task.trial


def _do_there(task: Task, path: Path) -> Trial:
    return _do(task, _records_of(path))


@cache
def _records_of(path: Path) -> Records:
    return Records(path)


def _limit_threads(n_threads: int) -> None:
    os.environ[VARIABLE] = str(n_threads)
    threadpool_limits(n_threads)

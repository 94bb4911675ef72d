"""How long the runs of an experiment take: by records of alike ones or, where there are none, by timing some."""

import time
from collections import ChainMap, defaultdict
from collections.abc import Iterable
from statistics import fmean

from fedsieve.experiments.records import Record, Records
from fedsieve.experiments.runner import Task, compute
from fedsieve.experiments.selection import check_trials, load_by_name

TIMING_SECONDS = 20.0  # after which no further run is timed


def time_some(tasks: Iterable[Task], into: Records) -> int:
    """Do one task of each dataset, then one of each other method on it, until the time is over; says how many.

    They are recorded as any other. What a process does once only, such as to load a dataset, is done before.
    """
    waiting = list(tasks)
    check_trials(task.trial for task in waiting)
    of_dataset, of_method = dict[str, Task](), dict[tuple[str, str], Task]()
    for task in waiting:
        of_dataset.setdefault(task.trial.dataset, task)
        of_method.setdefault((task.trial.dataset, task.trial.method), task)
    chosen = {task.trial.key(): task for task in (*of_dataset.values(), *of_method.values())}
    end = time.monotonic() + TIMING_SECONDS
    for number, task in enumerate(chosen.values()):
        if number and time.monotonic() > end:
            return number
        load_by_name(task.trial.dataset)
        compute([task], into)
    return len(chosen)


def estimated_hours(tasks: Iterable[Task], records: Records, *others: Records) -> float | None:
    """About how long the tasks take one processor, from what alike ones took; `None` where nothing is recorded.

    Alike are records of the same dataset and method, or else of the dataset, or else all. To classify takes as long as
    there are features; what was selected before is not selected again. The records of
    `others` tell no more than how long runs take. Where some of the alike tell processor time, only these count; old
    ones tell the time of day, without that of dealing out the rows.
    """
    told: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    done = records.read()
    for record in ChainMap(done, *(other.read() for other in others)).values():
        for alike in _likeness(record["trial"]["dataset"], record["trial"]["method"]):
            told[alike].append(record)
    if not told:
        return None
    took = {alike: _mean_seconds(found) for alike, found in told.items()}
    total = 0.0
    for task in tasks:
        known = next(took[alike] for alike in _likeness(task.trial.dataset, task.trial.method) if alike in took)
        of_evaluations = len(task.evaluations) * known["classify"] * (task.trial.k or known["k"]) / known["k"]
        is_selected = done.get(task.trial.key(), {}).get("selected") is not None
        total += known["prepare"] + of_evaluations + (0.0 if is_selected else known["select"])
    return total / 3600


def _mean_seconds(alike: list[Record]) -> dict[str, float]:
    """Of some records, the seconds of each part (to classify: per evaluation) and the number of features."""
    measured = [record for record in alike if "cpu_seconds" in record]
    found: dict[str, list[float]] = defaultdict(list)
    for record in measured or alike:
        seconds = record["cpu_seconds"] if measured else record["seconds"]
        found["prepare"].append(seconds.get("prepare", 0.0))
        found["select"].append(seconds.get("select", 0.0))
        found["classify"].append(seconds.get("classify", 0.0) / max(1, len(record["metrics"])))
        found["k"].append(record["k"])
    return {part: fmean(values) for part, values in found.items()}


def _likeness(dataset: str, method: str) -> tuple[tuple[str, ...], ...]:
    return (dataset, method), (dataset,), ()

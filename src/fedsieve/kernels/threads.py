"""How many threads the kernels use, and running a list of independent tasks on them."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from threading import Lock
from typing import TypeVar

import numpy as np

from fedsieve.arrays import Int
from fedsieve.errors import ParameterError

Task = TypeVar("Task")
Output = TypeVar("Output")

VARIABLE = "FEDSIEVE_THREADS"


def thread_count() -> int:
    """The environment variable FEDSIEVE_THREADS, else the cores this process may use."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1; got {wanted!r}.")
    return int(wanted)


def parallel_map(
    work: Callable[[Task], Output], tasks: Iterable[Task], n_threads: int | None = None
) -> Iterator[Output]:
    """Results of `work` in the order of the tasks; only a few exist at a time, since one may be large."""
    n_threads = thread_count() if n_threads is None else n_threads
    if n_threads == 1:
        yield from map(work, tasks)
        return
    queue = iter(tasks)
    first = list(islice(queue, 2))
    if len(first) < 2:  # for one task, starting a thread takes longer than many a task does
        yield from map(work, first)
        return
    queue = chain(first, queue)
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: list[Future[Output]] = [pool.submit(work, task) for task in islice(queue, n_threads + 1)]
        while waiting:
            yield waiting.pop(0).result()
            waiting.extend(pool.submit(work, task) for task in islice(queue, 1))


def parallel_sum(work: Callable[[Task], Int], tasks: Iterable[Task], n_threads: int | None = None) -> Int:
    """The sum of what `work` gives for each of the tasks, of which there is at least one.

    Each thread, the caller's among them, adds up what it happens to get: of whole numbers, so that the order does not
    matter. That is one result per thread, and nobody is woken for each task, as by `parallel_map`.
    """
    left, lock = list(tasks)[::-1], Lock()
    n_threads = min(thread_count() if n_threads is None else n_threads, len(left))

    def add_up() -> Int | None:
        total = None
        try:
            while True:
                with lock:
                    if not left:
                        return total
                    task = left.pop()
                part = work(task)
                total = part if total is None else np.add(total, part, out=total)
        except BaseException:
            left.clear()  # nobody begins another task
            raise

    with ThreadPoolExecutor(max(n_threads - 1, 1)) as pool:
        others = [pool.submit(add_up) for _ in range(n_threads - 1)]
        totals = [add_up(), *(other.result() for other in others)]
    first, *more = (total for total in totals if total is not None)
    for total in more:
        first += total
    return first

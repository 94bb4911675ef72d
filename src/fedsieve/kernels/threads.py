"""How many threads the kernels use, and running a list of independent tasks on them."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from fedsieve.errors import ParameterError

Task = TypeVar("Task")
Result = TypeVar("Result")

VARIABLE = "FEDSIEVE_THREADS"


def thread_count() -> int:
    """The environment variable FEDSIEVE_THREADS, else the cores this process may use."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1; got {wanted!r}.")
    return int(wanted)


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int | None = None) -> Iterator[Result]:
    """Results of `work` in the order of the tasks, with few of them alive at a time (a result may be large)."""
    n_threads = thread_count() if n_threads is None else n_threads
    if n_threads == 1:
        yield from map(work, tasks)
        return
    queue = iter(tasks)
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: list[Future[Result]] = [pool.submit(work, task) for task in islice(queue, n_threads + 1)]
        while waiting:
            yield waiting.pop(0).result()
            waiting.extend(pool.submit(work, task) for task in islice(queue, 1))

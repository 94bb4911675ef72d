"""How many threads the kernels use, and running a list of independent tasks on them."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

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


def parallel_sum(
    work: Callable[[Task, Int], object], tasks: Iterable[Task], zeros: Callable[[], Int], n_threads: int | None = None
) -> Int:
    """The array to which `work` has added all of the tasks.

    Each thread, the caller's among them, adds what it happens to get to zeros of its own: whole numbers, so that the
    order does not matter. That is one array per thread, and nobody is woken for each task, as by `parallel_map`.
    """
    left = list(tasks)[::-1]
    n_threads = min(thread_count() if n_threads is None else n_threads, len(left))

    def add_up() -> Int:
        total = zeros()
        try:
            while True:
                try:
                    task = left.pop()
                except IndexError:
                    return total
                work(task, total)
        except BaseException:
            left.clear()  # nobody begins another task
            raise

    with ThreadPoolExecutor(max(n_threads - 1, 1)) as pool:
        others = [pool.submit(add_up) for _ in range(n_threads - 1)]
        total = add_up()
    for other in others:
        total += other.result()
    return total

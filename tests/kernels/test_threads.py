"""How many threads there are, and what running tasks on them promises: order, few results at a time, errors."""

import importlib
import os
import pkgutil
import threading
import time

import numpy as np
import pytest

from fedsieve import kernels
from fedsieve.errors import ParameterError
from fedsieve.kernels import thread_count
from fedsieve.kernels.compiled import KERNELS
from fedsieve.kernels.threads import parallel_map, parallel_sum


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("3", 3), ("016", 16)])
def test_the_environment_sets_the_number_of_threads(monkeypatch, value, expected):
    monkeypatch.setenv("FEDSIEVE_THREADS", value)
    assert thread_count() == expected


def test_without_a_setting_all_cores_of_the_process_are_used(monkeypatch):
    monkeypatch.delenv("FEDSIEVE_THREADS", raising=False)
    if hasattr(os, "sched_getaffinity"):
        assert thread_count() == len(os.sched_getaffinity(0))
        monkeypatch.delattr(os, "sched_getaffinity")
    assert thread_count() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count() == 1


@pytest.mark.parametrize("value", ["0", "-1", "2.0", "many", "", " 2", "²"])
def test_a_setting_that_is_no_number_of_threads_is_an_error(monkeypatch, value):
    monkeypatch.setenv("FEDSIEVE_THREADS", value)
    with pytest.raises(ParameterError, match=f"FEDSIEVE_THREADS must be a whole number of at least 1; got '{value}'"):
        thread_count()


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7])
def test_results_come_in_the_order_of_the_tasks(n_threads, n_tasks):
    def work(task):
        time.sleep(0.002 * (n_tasks - task))  # the last would finish first
        return task**2

    assert list(parallel_map(work, range(n_tasks), n_threads)) == [task**2 for task in range(n_tasks)]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_few_results_are_alive_at_a_time(n_threads):
    started = []
    for consumed, _ in enumerate(parallel_map(started.append, range(20), n_threads)):
        time.sleep(0.005)  # time enough for the threads to run ahead if they could
        assert len(started) <= consumed + n_threads + 1
    assert len(started) == 20


def test_two_threads_work_at_the_same_time():
    barrier = threading.Barrier(2, timeout=120)  # passes only when two wait at it
    assert len(list(parallel_map(lambda _: barrier.wait(), range(4), 2))) == 4


def test_one_thread_is_the_callers_own():
    caller = threading.get_ident()
    assert set(parallel_map(lambda _: threading.get_ident(), range(3), 1)) == {caller}
    assert caller not in set(parallel_map(lambda _: threading.get_ident(), range(3), 2))


def test_the_environment_decides_when_nobody_says(monkeypatch):
    monkeypatch.setenv("FEDSIEVE_THREADS", "1")
    assert set(parallel_map(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}
    monkeypatch.setenv("FEDSIEVE_THREADS", "2")
    assert threading.get_ident() not in set(parallel_map(lambda _: threading.get_ident(), range(3)))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_an_error_comes_out_after_the_results_before_it(n_threads):
    def work(task):
        if task == 3:
            raise RuntimeError("task 3 failed")
        return task

    results = parallel_map(work, range(10), n_threads)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="task 3 failed"):
        next(results)
    assert list(results) == []


@pytest.mark.parametrize("n_threads", [2, 3])
def test_no_thread_is_left_behind_when_the_caller_stops_early(n_threads):
    before = threading.active_count()
    results = parallel_map(lambda task: task, range(100), n_threads)
    next(results)
    results.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7, 100])
def test_a_sum_has_every_task_once(n_threads, n_tasks):
    def work(task, sums):
        sums += np.array([1, task, task**2])

    sums = parallel_sum(work, range(n_tasks), lambda: np.zeros(3, dtype=np.int64), n_threads)
    assert sums.tolist() == [sum(task**power for task in range(n_tasks)) for power in range(3)]


def test_the_caller_is_one_of_the_threads_that_add_up():
    barrier, threads = threading.Barrier(2, timeout=120), set()

    def work(_, sums):
        barrier.wait()
        threads.add(threading.get_ident())
        sums += 1

    assert parallel_sum(work, range(8), lambda: np.zeros(1, dtype=np.int64), 2).tolist() == [8]
    assert len(threads) == 2
    assert threading.get_ident() in threads


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("in_the_callers", [True, False])
def test_after_an_error_no_task_of_a_sum_begins(n_threads, in_the_callers):
    begun, before = [], threading.active_count()

    def work(task, _):
        begun.append(task)
        if n_threads == 1 or (threading.current_thread() is threading.main_thread()) is in_the_callers:
            raise RuntimeError("a task failed")
        time.sleep(0.05)

    with pytest.raises(RuntimeError, match="a task failed"):
        parallel_sum(work, range(1000), lambda: np.zeros(1, dtype=np.int64), n_threads)
    assert len(begun) < 200  # of 1,000: on a busy machine a few more begin before the error is known
    assert threading.active_count() == before


def test_kernels_run_without_the_interpreters_lock_and_strictly_by_ieee_rules():
    for module in pkgutil.iter_modules(kernels.__path__):
        importlib.import_module(f"fedsieve.kernels.{module.name}")
    assert len(KERNELS) > 10
    for kernel in KERNELS:
        assert kernel.targetoptions["nogil"], kernel
        assert not kernel.targetoptions.get("fastmath"), kernel

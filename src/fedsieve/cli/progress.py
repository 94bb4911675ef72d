"""The progress of a run: one line per kind of request, with its rounds and messages so far."""

import logging
import time
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from fedsieve import kernels
from fedsieve.cli.console import err
from fedsieve.protocol import Question
from fedsieve.text import counted


class Rounds:
    """A context that shows one line per kind of request and counts the clients asked; runtimes call `watch`."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("messages"),
            TimeElapsedColumn(),
            console=err,
        )
        self._tasks: dict[str, TaskID] = {}

    def watch(self, question: Question) -> None:
        """Show a request; called before each one is sent."""
        kind = type(question.request).__name__
        self._finish_others(kind)
        if kind not in self._tasks:
            self._tasks[kind] = self._progress.add_task("", total=0, first=question.round)
        task = self._tasks[kind]
        first = self._progress.tasks[task].fields["first"]
        rounds = f"round {first}" if first == question.round else f"rounds {first} to {question.round}"
        total = (self._progress.tasks[task].total or 0) + len(question.clients)
        done = total - len(question.clients)
        self._progress.update(task, description=f"{rounds}: {question.request.title}", total=total, completed=done)

    def _finish_others(self, kind: str) -> None:
        for other, task in self._tasks.items():
            if other != kind:
                self._progress.update(task, completed=self._progress.tasks[task].total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish_others("")
        self._progress.stop()


def prepare_kernels() -> None:
    """Load the compiled kernels, and say so if they have to be compiled first."""
    start = time.perf_counter()
    logging.getLogger("fedsieve.kernels").setLevel(logging.ERROR)  # what it says is said here
    with err.status("Preparing the kernels (the first run on a machine compiles them) ..."):
        kernels.warm_up()
    seconds = time.perf_counter() - start
    n_compiled = kernels.n_compiled()
    if n_compiled:
        kept = ", kept on disk for the next run" if kernels.is_cached() else ""
        err.print(f"Compiled {counted(n_compiled, 'kernel')} in {seconds:.1f} s{kept}.")
    else:
        err.print(f"Kernels loaded from the disk cache in {seconds:.1f} s.")

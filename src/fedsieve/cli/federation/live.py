"""The options of the live view, and the view itself while a command runs, which goes on whatever happens to it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fedsieve.cli.console import out, say, warn
from fedsieve.dashboard.process import ADDRESS, LiveView, check_parts, check_port
from fedsieve.errors import FedSieveError, ParameterError

Dashboard = Annotated[
    bool, typer.Option("--dashboard", help="A live view in the browser, on this machine alone; its address is secret.")
]
DashboardPort = Annotated[
    int, typer.Option(help="The port of the live view on loopback; 0 for a free one.", show_default=False)
]
OpenMetrics = Annotated[
    bool, typer.Option("--open-metrics", help="Let every account of this machine read the view's /metrics.")
]
States: TypeAlias = Callable[[], Mapping[str, str]]
Show: TypeAlias = Callable[[States], None]


@dataclass(frozen=True)
class Wanted:
    """What was asked for, checked before anything begins."""

    command: str
    on: bool
    port: int
    open_metrics: bool

    def __post_init__(self) -> None:
        if not self.on:
            for option, given in (("--dashboard-port", self.port), ("--open-metrics", self.open_metrics)):
                if given:
                    raise ParameterError(f"{option} is of the live view; give --dashboard too.")
            return
        check_port(self.port)
        check_parts(f"fedsieve federation {self.command} --dashboard")


@contextmanager
def live_view(wanted: Wanted, kind: str, looked_at: Path, folder: Path) -> Iterator[Show]:
    """A function that is told how the sites are; with a view, if one is wanted and can be had."""
    view = _started(wanted, kind, looked_at, folder) if wanted.on else None

    def show(states: States) -> None:
        if view is None:
            return
        with suppress(FedSieveError, OSError):  # an agreement in the middle of a change; the next look has it
            view.states = states()
        if trouble := view.give_sign():
            warn(f"{trouble} '{wanted.command}' goes on without it.")

    try:
        yield show
    finally:
        if view is not None:
            view.stop()


def _started(wanted: Wanted, kind: str, looked_at: Path, folder: Path) -> LiveView | None:
    try:
        view = LiveView.start(kind, looked_at, folder, wanted.port, open_metrics=wanted.open_metrics)
    except (OSError, FedSieveError) as error:
        reason = f"port {wanted.port}: {error.strerror or error}." if isinstance(error, OSError) else str(error)
        warn(f"there is no live view ({reason}) '{wanted.command}' goes on without it.")
        return None
    # What is no terminal is kept, by a service manager or in a file: there only the place of the address is told.
    where = view.address if out.is_terminal else f"its address is in {folder / ADDRESS}, which only you can read."
    say(f"Live view: {where}")
    return view

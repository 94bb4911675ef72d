"""`fedsieve federation status`: who is online, and how the latest run goes."""

import time
from collections import defaultdict
from typing import Any

from rich.table import Table

from fedsieve.cli.console import out, say, size
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.purge import kept_line
from fedsieve.deployment.folders import ServerFolder
from fedsieve.deployment.runs import RunFolder, find_run
from fedsieve.errors import DataError
from fedsieve.messages import REQUESTS
from fedsieve.transport.flower.control import Control, NodeState
from fedsieve.transport.flower.engine import EngineError


def status(folder: Folder) -> None:
    """Show who is online, and how the latest run goes: round, bytes, elapsed time.

    [bold]Example[/bold]: fedsieve federation status fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    nodes = _nodes(federation)
    try:
        run = find_run(federation)
    except DataError:
        run = None
    events = run.events() if run else []
    out.print(_sites_table(agreement.sites, nodes, events))
    if run is None:
        say("No run yet.")
    else:
        say(_run_line(run, events))
        say(kept_line(run))


def _nodes(folder: ServerFolder) -> dict[str, NodeState]:
    try:
        with Control(folder) as control:
            nodes = control.nodes()
        say(f"The server of {folder.path} is up.")
        return nodes
    except EngineError:
        say(f"The server of {folder.path} is down. Start it: fedsieve federation serve {folder.path} --labeled FILE")
        return {}


def _sites_table(sites: tuple[str, ...], nodes: dict[str, NodeState], events: list[dict[str, Any]]) -> Table:
    n_bytes: dict[str, int] = defaultdict(int)
    last: dict[str, str] = {}
    for event in events:
        if event["event"] == "answered":
            n_bytes[event["site"]] += event["n_bytes"]
            last[event["site"]] = f"answered round {event['round']}"
        elif event["event"] == "refused":
            last[event["site"]] = event["reason"]
    table = Table(title="Sites, and what they did in the latest run", title_justify="left")
    table.add_column("site", no_wrap=True)
    table.add_column("state")
    table.add_column("sent", justify="right")
    table.add_column("last", overflow="fold")
    for name in sites:
        state = nodes[name].status if name in nodes else "unknown"
        table.add_row(name, state, size(n_bytes[name]), last.get(name, ""))
    return table


def _run_line(run: RunFolder, events: list[dict[str, Any]]) -> str:
    rounds = [event for event in events if event["event"] == "round"]
    if run.failure() is not None:
        state = f"failed: {run.failure()}"
    elif run.result() is not None:
        state = "has its result"
    elif run.leader() is not None:
        state = "is running"
    else:
        state = "was interrupted (run --resume goes on with it)"
    where = f", round {rounds[-1]['round']} ({REQUESTS[rounds[-1]['kind']].title})" if rounds else ""
    end = time.time() if run.leader() is not None else (events[-1]["time"] if events else 0)
    elapsed = f", {end - events[0]['time']:.0f} s" if events else ""
    sent = sum(event["n_bytes"] for event in events if event["event"] == "answered")
    return f"Run {run.id} {state}{where}{elapsed}, {size(sent)} received."

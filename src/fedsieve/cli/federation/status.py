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
from fedsieve.transport.flower.control import OFFLINE, ONLINE, Control, NodeState
from fedsieve.transport.flower.engine import EngineError


def status(folder: Folder) -> None:
    """Show who is online, and how the latest run goes: round, bytes, elapsed time.

    [bold]Example[/bold]: fedsieve federation status fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    nodes = _nodes(federation)
    states = {name: _state(name in agreement.approved, name, nodes) for name in agreement.sites}
    try:
        run = find_run(federation)
    except DataError:
        run = None
    events = run.events() if run else []
    out.print(_sites_table(states, events))
    if run is None:
        say("No run yet.")
    else:
        say(_run_line(run, events))
        say(kept_line(run))


def _nodes(folder: ServerFolder) -> dict[str, NodeState] | None:
    """What the engine says of each registered site; `None` where it is down."""
    try:
        with Control(folder) as control:
            nodes = control.nodes()
        say(f"The server of {folder.path} is up.")
        return nodes
    except EngineError:
        say(f"The server of {folder.path} is down. Start it: fedsieve federation serve {folder.path} --labeled FILE")
        return None


def _state(approved: bool, name: str, nodes: dict[str, NodeState] | None) -> str:
    """How far a site has come: from its request to the last sign of it."""
    if not approved:
        return "request not approved"
    if nodes is None:
        return "approved"
    if name not in nodes:
        return "approved, not registered yet"
    node = nodes[name]
    if node.status == OFFLINE and node.left is not None:
        return f"last heard of {node.left.astimezone():%Y-%m-%d %H:%M}"
    return node.status if node.status in (ONLINE, OFFLINE) else "approved, never joined"


def _sites_table(states: dict[str, str], events: list[dict[str, Any]]) -> Table:
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
    for name, state in states.items():
        table.add_row(name, state, size(n_bytes[name]), last.get(name, ""))
    return table


def _run_line(run: RunFolder, events: list[dict[str, Any]]) -> str:
    rounds = [event for event in events if event["event"] == "round"]
    if run.failure() is not None:
        state = f"failed: {run.failure()}"
    elif run.has_ended:
        state = "was a check, and has its findings" if run.is_check else "has its result"
    elif run.leader() is not None:
        state = "is running"
    else:
        state = "was interrupted (run --resume goes on with it)"
    where = f", round {rounds[-1]['round']} ({REQUESTS[rounds[-1]['kind']].title})" if rounds else ""
    end = time.time() if run.leader() is not None else (events[-1]["time"] if events else 0)
    elapsed = f", {end - events[0]['time']:.0f} s" if events else ""
    sent = sum(event["n_bytes"] for event in events if event["event"] == "answered")
    return f"Run {run.id} {state}{where}{elapsed}, {size(sent)} received."

"""`fedsieve federation status`: who is online, how the latest run goes, and what has followed it."""

import time
from collections import defaultdict
from typing import Any

from rich.table import Table

from fedsieve.cli.console import out, say
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.followed import failures_after, table_after
from fedsieve.cli.federation.purge import kept_line
from fedsieve.cli.speech import AsJson, document
from fedsieve.dashboard.server_state import server_state
from fedsieve.deployment.runs import RunFolder, find_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError
from fedsieve.messages import REQUESTS
from fedsieve.text import size
from fedsieve.transport.flower.control import OFFLINE, ONLINE, Control, NodeState
from fedsieve.transport.flower.engine import EngineError


def status(folder: Folder, as_json: AsJson = False) -> None:
    """Show who is online, and how the latest run goes: round, bytes, time; and what has followed it.

    [bold]Example[/bold]: fedsieve federation status fed/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    nodes = _nodes(federation)
    states = site_states(federation, nodes)
    if as_json:
        document({"up": nodes is not None, **server_state(federation, states)})
        return
    try:
        run = find_run(federation)
    except DataError:
        run = None
    events = run.events() if run else []
    out.print(_sites_table(states, events))
    if run is None:
        say("No run yet.")
    else:
        say(_run_line(run, events, is_edge=agreement.above is not None))
        if (table := table_after(federation, run)) is not None:
            out.print(table)
        for line in failures_after(federation, run):
            say(line)
        say(kept_line(run))


def _nodes(folder: ServerFolder) -> dict[str, NodeState] | None:
    """What the engine says of each registered site; `None` where it is down."""
    try:
        with Control(folder) as control:
            nodes = control.nodes()
        say(f"The server of {folder.path} is up.")
        return nodes
    except EngineError:
        above = folder.agreement().above
        serve = f"serve {folder.path} --labeled FILE"
        start = serve if above is None else f"edge FOLDER_OF_{above.client} --below {folder.path}"
        say(f"The server of {folder.path} is down. Start it: fedsieve federation {start}")
        return None


def site_states(folder: ServerFolder, nodes: dict[str, NodeState] | None) -> dict[str, str]:
    """How far each site has come, in words; `nodes` is `None` where the engine is down."""
    agreement = folder.agreement()
    return {name: _state(name in agreement.approved, name, nodes) for name in agreement.sites}


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
            last[event["site"]] = f"refused round {event['round']}: {event['reason']}"
    table = Table(title="Sites, and what they did in the latest run", title_justify="left")
    table.add_column("site", no_wrap=True)
    table.add_column("state")
    table.add_column("sent", justify="right")
    table.add_column("last", overflow="fold")
    for name, state in states.items():
        table.add_row(name, state, size(n_bytes[name]), last.get(name, ""))
    return table


def _run_line(run: RunFolder, events: list[dict[str, Any]], *, is_edge: bool) -> str:
    rounds = [event for event in events if event["event"] == "round"]
    failure = run.failure()
    if failure is not None:
        state = f"failed: {failure.rstrip('.')}. Until then"
    elif run.has_ended:
        state = "was a check, and has its findings" if run.is_check else "has its result"
    elif run.leader() is not None:
        state = "is running"
    elif is_edge:
        state = "waits for the server above"
    else:
        state = "was interrupted (run --resume goes on with it)"
    where = f", round {rounds[-1]['round']} ({REQUESTS[rounds[-1]['kind']].title})" if rounds else ""
    end = time.time() if run.leader() is not None else (events[-1]["time"] if events else 0)
    elapsed = f", {end - events[0]['time']:.0f} s" if events else ""
    sent = sum(event["n_bytes"] for event in events if event["event"] == "answered")
    return f"Run {run.id} {state}{where}{elapsed}, {size(sent)} received."

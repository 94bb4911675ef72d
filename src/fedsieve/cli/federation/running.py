"""`run`: leads a run to its result, through the death of the server's process or of the whole server."""

import time
from pathlib import Path

from fedsieve.cli.console import err, out, say, warn
from fedsieve.cli.federation.signals import ended_kindly
from fedsieve.cli.federation.story import tell_event
from fedsieve.cli.ranking import cost_line, ranking_table
from fedsieve.deployment.folders import ServerFolder
from fedsieve.deployment.locks import holder
from fedsieve.deployment.runs import RunFolder, find_run, new_run
from fedsieve.errors import FedSieveError, ProtocolError, listed
from fedsieve.report.selection_file import refuse_to_overwrite, write_selection
from fedsieve.transport.flower.control import FINISHED, ONLINE, Control, NodeState
from fedsieve.transport.flower.engine import EngineError

LOOK_SECONDS = 0.3
ENGINE_LOOK_SECONDS = 3
START_SECONDS = 60  # until the engine has started the server's process
SERVER_PATIENCE = 300  # how long a run waits for a server that went away
ATTEMPTS = 5


def run(path: Path, output: Path | None, wait: int, resume: str | None, force: bool) -> None:
    """Start or resume a run, follow it to its end, write the result."""
    folder = ServerFolder(path)
    agreement = folder.agreement()
    if output is not None and not force:
        refuse_to_overwrite(output)
    if resume is None:
        sites, absent = _gather(folder, wait, agreement.plan.min_clients)
        this = new_run(folder, sites, absent)
    else:
        this = find_run(folder, None if resume == "last" else resume)
        this.forget_failure()
    say(f"Run {this.id} with {listed(this.settings()['sites'], 20)}.")
    finished = False
    with ended_kindly():
        _lead(folder, this)
        finished = True
    if not finished:
        raise ProtocolError(
            f"run {this.id} was interrupted. Go on with: fedsieve federation run {path} --resume {this.id}"
        )
    _show(this, output or this.path / "result")


def _gather(folder: ServerFolder, wait: int, needed: int) -> tuple[list[str], list[str]]:
    """Wait for all sites; go on with those that are there if they are enough."""
    end = time.monotonic() + wait
    with err.status("Waiting for the sites to be online ..."):
        while True:
            nodes = _nodes(folder)
            online = sorted(name for name, state in nodes.items() if state.status == ONLINE)
            absent = sorted(set(nodes) - set(online))
            if (nodes and not absent) or time.monotonic() > end:
                break
            time.sleep(1)
    if len(online) < needed:
        raise ProtocolError(
            f"{len(online)} of {len(nodes)} sites are online, at least {needed} are needed (min_clients). "
            f"Absent: {listed(absent, 20)}. They join with: fedsieve federation join FOLDER --data FILE"
        )
    if absent:
        warn(f"going on without {listed(absent, 20)}, who did not join within {wait} s.")
    return online, absent


def _nodes(folder: ServerFolder) -> dict[str, NodeState]:
    """The sites' states; none as long as a server that was just started does not answer yet."""
    try:
        with Control(folder) as control:
            return control.nodes()
    except EngineError:
        if holder(folder.server / "serve.lock") is None:
            raise
        return {}


def _lead(folder: ServerFolder, this: RunFolder) -> None:
    """Have the engine run it; again from its last round if the process or the server dies."""
    told = len(this.events())
    for attempt in range(ATTEMPTS):
        number = None if this.leader() else _start(folder, this)
        told, ended = _follow(folder, this, number, told)
        if ended:
            return
        warn(f"the server's process of run {this.id} is gone; going on from its last round (attempt {attempt + 2}).")
    raise EngineError(f"run {this.id} lost its server's process {ATTEMPTS} times. See the logs in {folder.server}.")


def _start(folder: ServerFolder, this: RunFolder) -> int:
    """Submit the run; waits for a server that is being started again."""
    end = time.monotonic() + SERVER_PATIENCE
    while True:
        try:
            with Control(folder) as control:
                return control.start(this.id)
        except EngineError:
            if not this.events() or time.monotonic() > end:  # a first start needs a server now
                raise
            time.sleep(1)


def _follow(folder: ServerFolder, this: RunFolder, number: int | None, told: int) -> tuple[int, bool]:
    """Tell what happens until the run ends (True), or its process is found dead (False)."""
    started, looked, leading = time.monotonic(), time.monotonic(), False
    while True:
        events = this.events()
        for event in events[told:]:
            tell_event(event)
        told = len(events)
        leading = leading or this.leader() is not None
        if this.failure() is not None:
            raise ProtocolError(f"run {this.id} failed: {this.failure()}")
        if this.result() is not None and any(event["event"] == "finished" for event in events):
            return told, True
        if leading and this.leader() is None and this.events() == events:
            return told, this.result() is not None
        if not leading and time.monotonic() - started > START_SECONDS:
            return told, False
        if number is not None and time.monotonic() - looked > ENGINE_LOOK_SECONDS:
            looked = time.monotonic()
            if not leading and _engine_gave_up(folder, number):
                return told, False
        time.sleep(LOOK_SECONDS)


def _engine_gave_up(folder: ServerFolder, number: int) -> bool:
    try:
        with Control(folder) as control:
            return control.run_state(number)[0] == FINISHED
    except FedSieveError:
        return True  # the server went away with it


def _show(this: RunFolder, output: Path) -> None:
    record = this.result()
    assert record is not None
    write_selection(record, output)
    for name, reason in record["dropped"].items():
        warn(f"went on without {name!r}: {reason}")
    out.print(ranking_table(record, min(10, len(record["selected"]))))
    say(cost_line(record))
    say(f"Run {this.id}: selected {len(record['selected'])} features; the result is in {output}.")

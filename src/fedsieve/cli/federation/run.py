"""`fedsieve federation run`: one selection, brought to its result even if the server's process dies on the way."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.communication import Bits, Distances, Way, rows_cost, rows_cost_line, way_to
from fedsieve.cli.console import (
    chance_line,
    cost_line,
    err,
    n_shown,
    out,
    ranking_table,
    say,
    say_error_rate,
    say_what_is_missing,
    until_interrupted,
    warn,
)
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.purge import kept_line
from fedsieve.cli.options import Force
from fedsieve.cli.reporting import command_again, result_document, write_report_of
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.edge_agreement import refuse_edge_server
from fedsieve.deployment.run_story import DAMAGED, UNREADABLE, clock_words, event_words
from fedsieve.deployment.runs import RunFolder, find_run, new_run, operators_record
from fedsieve.deployment.server_folder import SERVES, ServerFolder
from fedsieve.errors import FedSieveError, ParameterError, ProtocolError, listed
from fedsieve.files import holder
from fedsieve.protocol.communication import BITS
from fedsieve.protocol.influence import odd_sites
from fedsieve.protocol.shift import shift_words
from fedsieve.selection_file import refuse_to_overwrite, write_selection
from fedsieve.text import counted, is_or_are
from fedsieve.transport.flower.control import FINISHED, ONLINE, Control, NodeState
from fedsieve.transport.flower.engine import EngineError

POLL_SECONDS = 0.3
ENGINE_POLL_SECONDS = 3
START_SECONDS = 60  # until the engine has started the server's process
SERVER_PATIENCE = 300  # how long a run waits for a server that went away
ATTEMPTS = 5


def run(
    folder: Folder,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the result; default in the run's.")] = None,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    resume: Annotated[str | None, typer.Option(help="Go on with a run: its id, or 'last'.")] = None,
    force: Force = False,
    keep_replies: Annotated[
        bool, typer.Option("--keep-replies", help="Keep all sites' replies after the end; else they are deleted.")
    ] = False,
    distances: Distances = "",
    bits: Bits = BITS,
    as_json: AsJson = False,
) -> None:
    """Run the rounds with the sites that are online, and give all of them the result.

    [bold]Example[/bold]: fedsieve federation run fed/ --out result/
    """
    federation = ServerFolder(folder)
    agreement = federation.agreement()
    refuse_edge_server(agreement, folder, "run")
    way = way_to(agreement.sites, distances, bits)
    if output is not None:
        refuse_to_overwrite(output, force=force)
    if resume is None:
        sites, absent = wait_for_sites(federation, wait, agreement.method.min_clients)
        this = new_run(federation, sites, absent)
    else:
        this = find_run(federation, None if resume == "last" else resume)
        if this.is_check:
            raise ParameterError(f"run {this.id} was a check, which ends without a selection. Start a run anew.")
        this.forget_failure()
    if keep_replies:
        this.keep_replies()
    say(f"Run {this.id} with {listed(this.settings()['sites'], 20)}.")
    go_on = f"fedsieve federation run {folder} --resume {this.id}"
    run_unless_interrupted(federation, this, f"run {this.id} was interrupted. Go on with: {go_on}")
    found = _show(this, output or this.path / "result", way)
    if as_json:
        document(found)


def wait_for_sites(folder: ServerFolder, wait: int, needed: int) -> tuple[list[str], list[str]]:
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
            f"{len(online)} of {counted(len(nodes), 'site')} {is_or_are(len(online))} online, at least {needed} "
            f"{is_or_are(needed)} needed (min_clients). "
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
        if holder(folder.server / SERVES) is None:
            raise
        return {}


def run_unless_interrupted(folder: ServerFolder, this: RunFolder, otherwise: str) -> None:
    """Run it to its end, or say how to go on where somebody interrupts."""
    finished = False
    with until_interrupted():
        run_to_end(folder, this)
        finished = True
    if not finished:
        raise ProtocolError(otherwise)


def run_to_end(folder: ServerFolder, this: RunFolder) -> None:
    """Have the engine run it; if the process or the server dies, once more from the last round."""
    printed = len(this.events())
    for attempt in range(ATTEMPTS):
        number = None if this.leader() else _start(folder, this)
        printed, ended = _follow(folder, this, number, printed)
        if ended:
            return
        warn(f"the server's process of run {this.id} is gone; going on from its last round (attempt {attempt + 2}).")
    raise EngineError(f"run {this.id} lost its server's process {ATTEMPTS} times. See the logs in {folder.server}.")


def _start(folder: ServerFolder, this: RunFolder) -> int:
    """Submit the run; wait for a server that is being started again."""
    end = time.monotonic() + SERVER_PATIENCE
    while True:
        try:
            with Control(folder) as control:
                return control.start(this.id)
        except EngineError:
            if not this.events() or time.monotonic() > end:  # a first start needs a server now
                raise
            time.sleep(1)


def _follow(folder: ServerFolder, this: RunFolder, number: int | None, printed: int) -> tuple[int, bool]:
    """Print events until the run ends (True) or its process is found dead (False); also how many are printed."""
    started, polled, leading = time.monotonic(), time.monotonic(), False
    while True:
        events = this.events()
        for event in _news(events, printed):
            _print_event(event)
        printed = len(events)
        leading = leading or this.leader() is not None
        if this.failure() is not None:
            raise ProtocolError(f"run {this.id} failed: {this.failure()}")
        if this.has_ended and any(event["event"] == "finished" for event in events):
            return printed, True
        if leading and this.leader() is None and this.events() == events:
            return printed, this.has_ended
        if not leading and time.monotonic() - started > START_SECONDS:
            return printed, False
        if number is not None and time.monotonic() - polled > ENGINE_POLL_SECONDS:
            polled = time.monotonic()
            if not leading and _engine_gave_up(folder, number):
                return printed, False
        time.sleep(POLL_SECONDS)


def _engine_gave_up(folder: ServerFolder, number: int) -> bool:
    try:
        with Control(folder) as control:
            return control.run_state(number)[0] == FINISHED
    except FedSieveError:
        return True  # the server went away with it


def _news(events: list[dict[str, Any]], printed: int) -> Iterator[dict[str, Any]]:
    """The events that were not printed yet; a wrong clock is told once for each site, not at every answer."""
    told = {str(event.get("site")) for event in events[:printed] if event["event"] == "clock"}
    for event in events[printed:]:
        if event["event"] == "clock":
            if str(event.get("site")) in told:
                continue
            told.add(str(event.get("site")))
        yield event


def _print_event(event: dict[str, Any]) -> None:
    """Print one event on the error stream; the result alone goes to the output."""
    try:
        if event["event"] == "clock":
            warn(clock_words(event))
            return
        clock, line = time.strftime("%H:%M:%S", time.localtime(event["time"])), event_words(event)
    except DAMAGED:  # or of another version: no reason to end the run
        clock, line = "--:--:--", f"{UNREADABLE}: {event['event']}"
    if line:
        err.print(f"{clock} {line}", soft_wrap=True)


def _show(this: RunFolder, output: Path, way: Way) -> dict[str, Any]:
    """Write and show the result; returns it as one document."""
    record = operators_record(this)
    assert record is not None
    record["communication"] = rows_cost(record, way)  # the operator knows how far the sites are
    record["command"] = command_again()
    write_selection(record, output)
    page = write_report_of(output)
    for name, reason in record["dropped"].items():
        warn(f"went on without {name!r}: {reason}")
    for words in odd_sites(record.get("influence"), record.get("stretch")).values():
        warn(words)
    for words in shift_words(record["shift"]):
        warn(words)
    out.print(ranking_table(record, n_shown(record)))
    if line := chance_line(record):
        say(line)
    say_error_rate(record)
    if "privacy" in record:
        say(record["privacy"]["words"])
    say_what_is_missing(record)
    say(cost_line(record))
    if line := rows_cost_line(record, way):
        say(line)
    say(f"Run {this.id}: selected {counted(len(record['selected']), 'feature')}; the result is in {output}.")
    if page is not None:
        say(f"To look at it: {page}")
    say(kept_line(this))
    return result_document(record, output, page)

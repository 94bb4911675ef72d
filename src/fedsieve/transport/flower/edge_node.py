"""An edge server towards its own sites: asks them what the server above asks it, and passes results on.

Flower gives a node no way to ask others, so this is a ServerApp of the edge server's own engine. It stays while the
edge server does; what is asked comes by a mailbox (`transport/mailbox.py`), and answers go back by it.
"""

import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flwr.serverapp import Grid

from fedsieve.deployment.logs import open_log
from fedsieve.deployment.runs import RunFolder, new_run
from fedsieve.deployment.server_folder import SERVES, ServerFolder
from fedsieve.errors import FedSieveError, ProtocolError, listed
from fedsieve.files import holder, only_one
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.protocol import EdgeServer, Question
from fedsieve.selection_file import write_selection_json
from fedsieve.text import is_or_are, without_folders
from fedsieve.transport.checkpoint import Checkpointed
from fedsieve.transport.envelope import Envelope
from fedsieve.transport.exchange import Answer
from fedsieve.transport.flower.contents import RESULT
from fedsieve.transport.flower.engine import EDGE, EDGE_LOCK
from fedsieve.transport.flower.grid_exchange import DELIVERY_SECONDS, GRACE_SECONDS, introduce, link_for
from fedsieve.transport.mailbox import Mailbox, waiting

POLL_SECONDS = 0.2


def lead_edge(grid: Grid, folder: ServerFolder) -> None:
    """Answer until the command that started this process is gone, however it ended."""
    command = holder(folder.server / SERVES)
    with only_one(folder.server / EDGE_LOCK, ProtocolError(f"{folder.path}: another process asks its sites already.")):
        node = EdgeNode(grid, folder)
        while command is not None and holder(folder.server / SERVES) == command:
            node.look()
            time.sleep(POLL_SECONDS)


class EdgeNode:
    """Answers whatever waits in the mailboxes of a folder, by the sites behind a grid."""

    def __init__(self, grid: Grid, folder: ServerFolder) -> None:
        self._grid, self._folder = grid, folder
        self._runs: dict[str, EdgeRun] = {}

    def look(self) -> None:
        """Answer all questions and pass on all results that are there now."""
        for box in waiting(self._folder):
            try:
                with box.run.held():
                    self._of(box.run).answer_all()
                    if (result := box.result()) is not None:
                        self._deliver(box.run, *result)
            except FedSieveError as error:
                self._give_up(box, error)

    def _of(self, run: RunFolder) -> "EdgeRun":
        if run.id not in self._runs:
            self._runs[run.id] = EdgeRun(self._grid, self._folder, run)
        return self._runs[run.id]

    def _deliver(self, run: RunFolder, round_: int, payload: bytes) -> None:
        """Give the result to all sites of the last attempt; then nothing of any attempt is needed any more."""
        attempts = [one for one in _runs_of(self._folder) if one.id == run.id or one.id.startswith(f"{run.id}.")]
        last = max(attempts, key=lambda one: (len(one.id), one.id))
        self._of(last).answer_all()
        self._of(last).deliver(run.id, round_, payload)
        write_selection_json(zlib.decompress(payload).decode(), last.path)
        for one in attempts:
            one.end_replies()
            self._runs.pop(one.id, None)

    def _give_up(self, box: Mailbox, error: FedSieveError) -> None:
        """Say above that there is no answer, and to the operator why."""
        open_log(self._folder.server, box.run.id, EDGE).error("%s", error)
        refusal = Refusal(f"an edge server: {without_folders(str(error), str(self._folder.path))}")
        for number in box.unanswered():
            box.answer(number, refusal, ())
        if box.result() is not None:
            box.run.end_replies()


class EdgeRun:
    """One run with the sites that were online when it began; a new process goes the same way by what was kept."""

    def __init__(self, grid: Grid, folder: ServerFolder, run: RunFolder) -> None:
        agreement = folder.agreement()
        self._run, self._box = run, Mailbox(run)
        self._log, self._method = open_log(folder.server, run.id, EDGE), agreement.method
        self._link = link_for(grid, folder, run.id, agreement.approved, self._tell)
        self._link.nodes = self._link.nodes or introduce(self._link)
        if any(event["event"] == "started" for event in run.events()):
            self._link.grace_seconds = GRACE_SECONDS
        else:
            online = set(grid.get_node_ids())
            sites = sorted(name for name, node in self._link.nodes.items() if node in online)
            new_run(folder, sites, sorted(set(agreement.approved) - set(sites)), name=run.id)
        settings = run.settings()
        if settings["agreement"] != agreement.fingerprint:
            raise ProtocolError("its agreement with its own sites changed since the run was started. Start a new run.")
        self._absent: list[str] = settings["absent"]
        self._tell("started", sites=settings["sites"], absent=self._absent)
        self._edge = EdgeServer(agreement.method, settings["sites"])
        self._exchange, self._n_done = Checkpointed(self._ask, run), 0

    def answer_all(self) -> None:
        """Answer what was not answered yet; what was, this process goes through again without asking anybody."""
        for number, request, answered in self._box.questions():
            if number <= self._n_done:
                continue
            before = set(self._edge.dropped)
            reply = self._total(request)
            self._n_done = number
            if answered:
                continue
            for site in set(self._edge.dropped) - before:
                self._tell("dropped", site=site, reason=self._edge.dropped[site])
            self._box.answer(number, reply, self._edge.sites)

    def deliver(self, name: str, round_: int, payload: bytes) -> None:
        """Send the result, which is of the run of that name, to all sites that took part."""
        link = self._link
        nodes = {site: link.nodes[site] for site in self._edge.sites if site in link.nodes}
        link.timeout_seconds, link.operator.run, link.cohort = DELIVERY_SECONDS, name, tuple(nodes)
        self._tell("delivery", sites=list(nodes))
        for site, reply in link.send(RESULT, round_, nodes, payload).items():
            taken = isinstance(reply, Envelope) and not reply.payload  # else it says why not
            self._tell("delivered" if taken else "not delivered", site=site)

    def _total(self, request: Request) -> Reply:
        """The sum over its own sites, or why there is none."""
        sites, least = self._edge.sites, self._method.min_clients
        if len(sites) < least:
            online, absent = f"{len(sites)} of its sites {is_or_are(len(sites))} online", listed(self._absent, 20)
            return Refusal(f"an edge server: {online}, {least} {is_or_are(least)} needed. Absent: {absent}.")
        steps = self._edge.answer(request)
        try:
            question = next(steps)
            while True:
                answers = self._exchange(question)
                question = steps.send({name: answer.reply for name, answer in answers.items()})
        except StopIteration as finished:
            reply: Reply = finished.value
            return reply

    def _ask(self, question: Question) -> Mapping[str, Answer]:
        """To its sites another attempt is another run, and one of the server above a third (`RUN-1`, `RUN.1`)."""
        self._link.run = f"{self._run.id}-{question.attempt}" if question.attempt else self._run.id
        return self._link.ask(replace(question, attempt=0))

    def _tell(self, event: str, **details: Any) -> None:
        self._run.tell(event, **details)
        self._log.info("%s %s", event, json.dumps(details))


def _runs_of(folder: ServerFolder) -> list[RunFolder]:
    return [RunFolder(file.parent) for file in (folder.server / "runs").glob("*/run.json")]

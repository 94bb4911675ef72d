"""The server's side of the wire: questions out, answers in, through any Flower `Grid`.

A loss of any kind becomes a `Refusal` with the reason; the protocol decides what to do without that client.
"""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flwr.app import Message
from flwr.serverapp import Grid

from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import CodecError
from fedsieve.messages import Refusal
from fedsieve.messages.base import MAX_REASON
from fedsieve.protocol import Question
from fedsieve.text import visible
from fedsieve.transport.codec import encode
from fedsieve.transport.envelope import Envelope
from fedsieve.transport.exchange import Answer, AnswersInTurn
from fedsieve.transport.flower.contents import HELLO, QUERY, STEP, unwrap, wrap
from fedsieve.transport.operator import Operator, clock_difference

POLL_SECONDS = 0.25  # how often the engine is asked for replies
LIFE_SECONDS = 120  # that a message outlives our patience, so that it is our clock that decides
DELIVERY_SECONDS = 60  # for a result
ARRIVAL_SECONDS = 60  # for nodes that the engine has yet to register
GRACE_SECONDS = 90  # after the server's process died, the engine takes about 50 s to free its nodes
ENGINE_ERRORS = {2: "its process failed", 5: "its node is gone, no heartbeat", 8: "its process died"}


@dataclass
class ServerLink:
    """Sends and receives for one run; letters are the operator's. `tell` is told what happens, per site."""

    grid: Grid
    run: str
    operator: Operator
    cohort: tuple[str, ...]  # all sites of the run, as every request names them
    nodes: Mapping[str, int]
    timeout_seconds: float
    tell: Callable[..., None]
    kind: str = STEP  # of the messages that carry questions
    grace_seconds: float = 0  # more for the next round: after a restart nodes may still be busy with the old process

    def ask(self, question: Question) -> Mapping[str, Answer]:
        """One round of the protocol: a question to each of its clients, their answers as they came.

        Answers wait on disk, in a file without a name: who only adds them up holds one at a time.
        """
        round_, clients = question.round, question.clients
        self.cohort, self.operator.run = question.cohort or self.cohort, question.run_at_sites(self.run)
        self.tell("round", round=round_, kind=type(question.request).__name__, sites=list(clients))
        own = {name: encode(request) for name, request in question.own.items()}
        nodes = {name: self.nodes[name] for name in clients}
        shelf = PayloadShelf()
        received = self.send(self.kind, round_, nodes, encode(question.request), own=own, shelf=shelf)

        def answer(name: str) -> Answer:
            one = received[name]
            return self._answer(name, round_, one if isinstance(one, Refusal) else shelf.filled(name, one))

        if question.added:
            return AnswersInTurn(clients, answer)
        return {name: answer(name) for name in clients}

    def send(
        self,
        kind: str,
        round_: int,
        nodes: Mapping[str, int],
        payload: bytes,
        *,
        own: Mapping[str, bytes] | None = None,
        known: bool = True,
        shelf: "PayloadShelf | None" = None,
    ) -> dict[str, Envelope | Refusal]:
        """Send a payload, or its own, to each of the nodes, given by site; each one's genuine reply, or why none is."""
        sort, cohort, own = kind.removeprefix(QUERY), self.cohort if known else (), own or {}
        requests = {
            site: self.operator.seal(round_, site if known else None, own.get(site, payload), kind=sort, cohort=cohort)
            for site in nodes
        }
        messages = [
            Message(wrap(requests[site]), node, kind, ttl=self.timeout_seconds + LIFE_SECONDS, group_id=str(round_))
            for site, node in nodes.items()
        ]
        taken = set(self.grid.push_messages(messages))  # all, some or none, and something empty for others
        numbers = [message.metadata.message_id for message in messages]
        asked = {number: site for number, site in zip(numbers, nodes, strict=True) if number in taken}
        start = time.monotonic()
        received: dict[str, Envelope | Refusal] = {
            site: self._refuse(site, round_, "could not be sent the request.")
            for site in nodes
            if site not in asked.values()
        }
        patience, self.grace_seconds = self.timeout_seconds + self.grace_seconds, 0
        # A look lasts as long as a reply is on its way, and where its site dies then, for minutes: what came from
        # others meanwhile is found by the last look, which begins when the time is over.
        while len(received) < len(nodes):
            seconds_left = start + patience - time.monotonic()
            waiting = [number for number, site in asked.items() if site not in received]
            for reply in self.grid.pull_messages(waiting) if waiting else ():
                site = asked.get(reply.metadata.reply_to_message_id, "")
                if site in received:
                    self._refuse(site, round_, "answered twice; the second answer was ignored.")
                elif site:
                    seconds = time.monotonic() - start
                    received[site] = self._open(reply, site, round_, requests[site], known, sort)
                    if kind == self.kind and isinstance(envelope := received[site], Envelope):
                        sent = {"n_bytes": len(envelope.payload), "seconds": round(seconds, 3)}
                        self.tell("answered", round=round_, site=site, **sent)
                        if shelf is not None:
                            received[site] = shelf.emptied(site, envelope)
            if seconds_left <= 0:
                break
            if len(received) < len(nodes):
                time.sleep(max(0.0, min(POLL_SECONDS, start + patience - time.monotonic())))
        for site in nodes:
            if site not in received:
                received[site] = self._refuse(site, round_, f"did not answer within {patience:g} s.")
        return received

    def _open(
        self, reply: Message, site: str, round_: int, request: bytes, known: bool, kind: str
    ) -> Envelope | Refusal:
        if reply.has_error():
            meaning = ENGINE_ERRORS.get(reply.error.code, "was lost")
            return self._refuse(site, round_, f"{meaning} (the engine's code {reply.error.code}).")
        try:
            envelope = self.operator.open(unwrap(reply), site if known else None, round_, request, kind=kind)
        except CodecError as error:
            return self._refuse(site, round_, f"sent a reply that is refused: {error}")
        if ahead := clock_difference(envelope):
            self.tell("clock", round=round_, site=site, seconds_ahead=ahead)
        return envelope

    def _answer(self, site: str, round_: int, received: Envelope | Refusal) -> Answer:
        if isinstance(received, Refusal):
            return Answer(received, 0)
        try:
            reply = self.operator.read(received)
        except CodecError as error:
            return Answer(self._refuse(site, round_, f"sent a reply that is refused: {error}"), 0)
        if isinstance(reply, Refusal):
            reply = self._refuse(site, round_, reply.reason)
        return Answer(reply, len(received.payload))

    def _refuse(self, site: str, round_: int, reason: str) -> Refusal:
        reason = visible(reason)[:MAX_REASON]  # it goes to terminals, logs and the result
        self.tell("refused", round=round_, site=site, reason=reason)
        return Refusal(reason)


class PayloadShelf:
    """Payloads of one round, on disk until they are looked at."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the round's answers)
        self._places: dict[str, tuple[int, int]] = {}

    def __del__(self) -> None:
        self._file.close()

    def emptied(self, site: str, envelope: Envelope) -> Envelope:
        """The envelope without its payload, which is kept here."""
        self._places[site] = self._file.seek(0, os.SEEK_END), len(envelope.payload)
        self._file.write(envelope.payload)
        return replace(envelope, payload=b"")

    def filled(self, site: str, envelope: Envelope) -> Envelope:
        """The envelope as it came."""
        start, length = self._places[site]
        self._file.seek(start)
        return replace(envelope, payload=self._file.read(length))


def link_for(
    grid: Grid, folder: ServerFolder, run: str, sites: tuple[str, ...], tell: Callable[..., None]
) -> ServerLink:
    """The link of a federation's server to its sites, for one run with these sites."""
    nodes, seconds = folder.nodes() or {}, folder.agreement().timeout_seconds
    return ServerLink(grid, run, Operator.of(folder, run), sites, nodes, seconds, tell)


def introduce(link: ServerLink, n_expected: int = 0) -> dict[str, int]:
    """Ask all nodes who they are; a site is whoever signs with its registered key. Returns name -> node.

    Needed where the nodes were not registered by us: in a simulation, or in a Flower federation of another's making.
    A simulation starts the server before it has registered its nodes, so as many as are expected are waited for.
    """
    start = time.monotonic()
    while len(there := list(link.grid.get_node_ids())) < n_expected:
        if time.monotonic() - start > min(link.timeout_seconds, ARRIVAL_SECONDS):
            break
        time.sleep(POLL_SECONDS)
    nodes = {f"node {node}": node for node in there}
    found: dict[str, int] = {}
    for label, envelope in sorted(link.send(HELLO, 0, nodes, b"", known=False).items()):
        if isinstance(envelope, Envelope) and envelope.sender not in found:
            found[envelope.sender] = nodes[label]
    return found

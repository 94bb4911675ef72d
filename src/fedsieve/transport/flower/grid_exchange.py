"""The server's side of the wire: questions out, answers in, through any Flower `Grid`.

A loss of any kind becomes a `Refusal` with the reason; the protocol decides what to do without that client.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flwr.app import Message
from flwr.serverapp import Grid

from fedsieve.deployment import keys
from fedsieve.deployment.folders import ServerFolder
from fedsieve.deployment.keys import PrivateKey, PublicKey
from fedsieve.errors import CodecError
from fedsieve.protocol import SERVER, Ask
from fedsieve.protocol import messages as m
from fedsieve.protocol.validation import MAX_REASON
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import ANYONE, Envelope, digest, seal, unseal
from fedsieve.transport.exchange import Answer
from fedsieve.transport.flower.parcels import HELLO, STEP, unwrap, wrap

POLL_SECONDS = 0.25  # how often the engine is asked for replies
LIFE_SECONDS = 120  # that a message outlives our patience, so that it is our clock that decides
MAX_ENVELOPE = 8192  # bytes that an envelope may add to a message
ENGINE_ERRORS = {2: "its process failed", 5: "its node is gone, no heartbeat", 8: "its process died"}


@dataclass
class Post:
    """Signs, sends and receives for one run. `tell` is told what happens, per site."""

    grid: Grid
    run: str
    agreement: str
    key: PrivateKey
    public_keys: Mapping[str, PublicKey]
    nodes: Mapping[str, int]
    timeout_seconds: float
    max_bytes: int
    tell: Callable[..., None]
    grace_seconds: float = 0  # more for the next round: after a restart nodes may still be busy with the old process

    def ask(self, ask: Ask) -> dict[str, Answer]:
        """One round of the protocol: a question to each of its clients, their answers as they came."""
        self.tell("round", round=ask.round, kind=type(ask.request).__name__, sites=list(ask.clients))
        received = self.send(STEP, ask.round, {name: self.nodes[name] for name in ask.clients}, encode(ask.request))
        return {name: self._answer(name, ask.round, received[name]) for name in ask.clients}

    def send(
        self, kind: str, round_: int, nodes: Mapping[str, int], payload: bytes, *, known: bool = True
    ) -> dict[str, Envelope | m.Refusal]:
        """Send a payload to each of the nodes, given by site; each one's genuine reply, or why there is none."""
        requests = {site: self._seal(round_, site if known else ANYONE, payload) for site in nodes}
        messages = [
            Message(wrap(requests[site]), node, kind, ttl=self.timeout_seconds + LIFE_SECONDS, group_id=str(round_))
            for site, node in nodes.items()
        ]
        asked = dict(zip(self.grid.push_messages(messages), nodes, strict=True))
        start = time.monotonic()
        received: dict[str, Envelope | m.Refusal] = {}
        patience, self.grace_seconds = self.timeout_seconds + self.grace_seconds, 0
        while len(received) < len(nodes) and time.monotonic() - start < patience:
            waiting = [number for number, site in asked.items() if number and site not in received]
            for reply in self.grid.pull_messages(waiting) if waiting else ():
                site = asked.get(reply.metadata.reply_to_message_id, "")
                if site in received:
                    self._refuse(site, round_, "answered twice; the second answer was ignored.")
                elif site:
                    seconds = time.monotonic() - start
                    received[site] = self._open(reply, site, round_, requests[site], known)
                    if kind == STEP and isinstance(envelope := received[site], Envelope):
                        sent = {"n_bytes": len(envelope.payload), "seconds": round(seconds, 3)}
                        self.tell("answered", round=round_, site=site, **sent)
            if len(received) < len(nodes):
                time.sleep(POLL_SECONDS)
        for site in nodes:
            if site not in received:
                received[site] = self._refuse(site, round_, f"did not answer within {patience:g} s.")
        return received

    def _seal(self, round_: int, receiver: str, payload: bytes) -> bytes:
        nonce = secrets.token_hex(16)  # makes every request one of its kind, so that no old reply fits it
        return seal(Envelope(self.run, self.agreement, round_, SERVER, receiver, nonce, payload), self.key)

    def _open(self, reply: Message, site: str, round_: int, request: bytes, known: bool) -> Envelope | m.Refusal:
        if reply.has_error():
            meaning = ENGINE_ERRORS.get(reply.error.code, "was lost")
            return self._refuse(site, round_, f"{meaning} (the engine's code {reply.error.code}).")
        try:
            data = unwrap(reply)
            if len(data) > self.max_bytes + MAX_ENVELOPE:
                raise CodecError(f"{len(data)} bytes are above the limit of {self.max_bytes}.")
            envelope = unseal(data, self.public_keys)
            if known:
                envelope.require(sender=site)
            envelope.require(
                receiver=SERVER, run=self.run, round=round_, about=digest(request), agreement=self.agreement
            )
        except CodecError as error:
            return self._refuse(site, round_, f"sent a reply that is refused: {error}")
        return envelope

    def _answer(self, site: str, round_: int, received: Envelope | m.Refusal) -> Answer:
        if isinstance(received, m.Refusal):
            return Answer(received, 0)
        try:
            reply = decode(received.payload, max_bytes=self.max_bytes)
            if not isinstance(reply, m.Reply):
                raise CodecError(f"it is {type(reply).__name__}, a request.")
        except CodecError as error:
            return Answer(self._refuse(site, round_, f"sent a reply that is refused: {error}"), 0)
        if isinstance(reply, m.Refusal):
            self._refuse(site, round_, reply.reason)
        return Answer(reply, len(received.payload))

    def _refuse(self, site: str, round_: int, reason: str) -> m.Refusal:
        reason = reason[:MAX_REASON]
        self.tell("refused", round=round_, site=site, reason=reason)
        return m.Refusal(reason)


def post_for(grid: Grid, folder: ServerFolder, run: str, tell: Callable[..., None]) -> Post:
    """The post of a federation's server for one run."""
    agreement = folder.agreement()
    return Post(
        grid=grid,
        run=run,
        agreement=agreement.fingerprint,
        key=keys.read_private_key(folder.server / "operator.key"),
        public_keys=folder.public_keys(agreement.sites),
        nodes=folder.nodes() or {},
        timeout_seconds=agreement.timeout_seconds,
        max_bytes=agreement.plan.max_message_bytes,
        tell=tell,
    )


def introduce(post: Post) -> dict[str, int]:
    """Ask all nodes who they are; a site is whoever signs with its registered key. Returns name -> node.

    Needed where the nodes were not registered by us: in a simulation, or in a Flower federation of another's making.
    """
    nodes = {f"node {node}": node for node in post.grid.get_node_ids()}
    found: dict[str, int] = {}
    for label, envelope in sorted(post.send(HELLO, 0, nodes, b"", known=False).items()):
        if isinstance(envelope, Envelope) and envelope.sender not in found:
            found[envelope.sender] = nodes[label]
    return found

"""A site's whole answer: bytes in, bytes out. Every runtime calls it, and none decides anything about privacy.

Open, check the agreement and the site's own policy, compute, pass the release filters, log what left, seal.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from fedsieve.errors import CodecError, FedSieveError, ProtocolError
from fedsieve.messages import Memory, Refusal, Reply, Request
from fedsieve.privacy import Policy, SiteRules
from fedsieve.protocol import Client, Method
from fedsieve.protocol.parties import RunMemory
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode

Respond: TypeAlias = Callable[[Request, str], Reply]
"""The reply to a request of a run: a site's own computation, or an edge server's sum over its sites."""
Filter: TypeAlias = Callable[[Request, Reply], Reply]
"""What a reply passes before it leaves, such as noise or masks."""


@dataclass(frozen=True)
class Letter:
    """A request after it was opened: of which run and round, its payload, and whatever its answer must name."""

    run: str
    round: int
    payload: bytes
    reference: Any = None


class Wrapping(Protocol):
    """How payloads travel: bare within a process, in signed envelopes between machines."""

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:
        """The letter in `data`; raises where it is not from the server: such a letter is not answered at all."""

    def refuse_foreign(self, letter: Letter) -> None:
        """Raise where a genuine letter belongs elsewhere; that is answered with a refusal."""

    def seal(self, letter: Letter, payload: bytes) -> bytes:
        """The answer to a letter."""


class Bare:
    """Payloads as they are."""

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:  # noqa: ARG002
        """Within a process there is one run and one sender."""
        return Letter("", 0, data)

    def refuse_foreign(self, letter: Letter) -> None:
        """Nothing comes from elsewhere."""

    def seal(self, letter: Letter, payload: bytes) -> bytes:  # noqa: ARG002
        """Nothing to add."""
        return payload


class SiteState(Protocol):
    """What a site remembers: values within a run, and which requests it has seen while it has joined."""

    def memory(self, run: str) -> Memory:
        """The memory of one run."""

    def among_first(self, kind: str, digest: str, n: int) -> bool:
        """Whether a request is one of the first n unlike ones of its kind; remembers it if so."""


class TransientState:
    """A state that lives as long as the process."""

    def __init__(self) -> None:
        self._memories: dict[str, RunMemory] = {}
        self._seen: dict[str, set[str]] = {}

    def memory(self, run: str) -> Memory:
        """Made when first asked for."""
        return self._memories.setdefault(run, RunMemory())

    def among_first(self, kind: str, digest: str, n: int) -> bool:
        """Requests are known by their digest."""
        seen = self._seen.setdefault(kind, set())
        if digest not in seen and len(seen) < n:
            seen.add(digest)
        return digest in seen


class Endpoint:
    """Where a site meets its server."""

    def __init__(
        self,
        rules: Callable[[], SiteRules],
        respond: Respond,
        wrapping: Wrapping,
        *,
        hides_defects: bool,
        n_rows: Callable[[], int] | None = None,
        filters: Sequence[Filter] = (),
        log_for: Callable[[str], logging.LoggerAdapter[logging.Logger]] | None = None,
    ) -> None:
        self._rules, self._hides_defects = rules, hides_defects  # rules that cannot be read are a reason to refuse
        self._respond, self._wrapping, self._filters, self._log_for = respond, wrapping, tuple(filters), log_for
        self._n_rows = n_rows  # where they are known before anything is computed: even a refusal could tell of few rows

    @classmethod
    def of_table(
        cls, table: Table, method: Method, policy: Policy, wrapping: Wrapping, state: SiteState, **others: Any
    ) -> "Endpoint":
        """The endpoint of a site that answers from its own rows."""

        def respond(request: Request, run: str) -> Reply:
            return Client(table, state.memory(run)).answer(request)

        rules = SiteRules(method, policy, state.among_first)
        how = {"hides_defects": policy.hides_defects, "n_rows": lambda: table.n_rows, **others}
        return cls(lambda: rules, respond, wrapping, **how)

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request; a refusal where the request or the reply is not allowed."""
        return self.receive(data, "request", lambda letter: encode(self._reply(letter)))

    def receive(self, data: bytes, kind: str, act: Callable[[Letter], bytes], *, to_anyone: bool = False) -> bytes:
        """What `act` makes of a letter, sealed; a refusal where it cannot, or where the letter is not for this site."""
        letter = self._wrapping.open(data, to_anyone=to_anyone)
        try:
            self._wrapping.refuse_foreign(letter)
            payload = act(letter)
            self._log(letter, logging.INFO, "%s of round %d: answered with %d bytes", kind, len(payload))
        except FedSieveError as reason:
            self._log(letter, logging.WARNING, "%s of round %d: refused: %s", kind, reason)
            payload = encode(Refusal(str(reason)))
        except Exception as error:
            if not self._hides_defects:
                raise
            self._log(letter, logging.ERROR, "%s of round %d: failed: %s", kind, type(error).__name__)
            payload = encode(Refusal(f"failed with {type(error).__name__}; see the site's log."))
        return self._wrapping.seal(letter, payload)

    def _reply(self, letter: Letter) -> Reply:
        request = decode(letter.payload)
        if not isinstance(request, Request):
            raise CodecError(f"was sent {type(request).__name__}, no request.")
        rules = self._rules()
        if self._n_rows is not None:
            rules.check_rows(self._n_rows())
        rules.check_request(request, hashlib.sha256(letter.payload).hexdigest())
        reply = self._respond(request, letter.run)
        if isinstance(reply, Refusal):
            raise ProtocolError(reply.reason)
        rules.check_reply(request, reply)
        for passes in self._filters:
            reply = passes(request, reply)
        return reply

    def _log(self, letter: Letter, level: int, text: str, kind: str, what: object) -> None:
        if self._log_for is not None:
            self._log_for(letter.run).log(level, text, kind, letter.round, what)

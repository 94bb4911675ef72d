"""A site's whole answer: bytes in, bytes out. Every runtime calls it, and none decides anything about privacy.

Open, check the agreement and the site's own policy, compute, pass the release filters, log what left, seal.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

from fedsieve.errors import CodecError, FedSieveError, ProtocolError
from fedsieve.messages import Memory, Refusal, Reply, Request
from fedsieve.privacy import GuardedTable, Pins, Policy, SiteRules, Story, held_back
from fedsieve.privacy.noise import Words, system_words
from fedsieve.protocol import Client, Method
from fedsieve.protocol.parties import RunMemory
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode

Respond: TypeAlias = Callable[[Request, str], Reply]
"""The reply to a request of a run: a site's own computation, or an edge server's sum over its sites."""
Record: TypeAlias = Callable[["Letter", Request | None, Reply, int], None]
"""Told of every reply, with its bytes, before it leaves; a refusal may come without the request it answers."""
Filter: TypeAlias = Callable[[Request, Reply], Reply]
"""What a reply passes before it leaves, after any noise, such as masks."""


@dataclass(frozen=True)
class Letter:
    """A request after it was opened: of which run and round, its payload, and whatever its answer must name."""

    run: str
    round: int
    payload: bytes
    reference: Any = None
    kind: str = ""
    cohort: tuple[str, ...] = ()  # all sites of the run, where letters travel between machines


class Wrapping(Protocol):
    """How payloads travel: bare within a process, in signed envelopes between machines."""

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:
        """The letter in `data`; raises where it is not from the server: such a letter is not answered at all."""

    def refuse_foreign(self, letter: Letter, kind: str) -> None:
        """Raise where a genuine letter belongs elsewhere, or is of another kind; that is answered with a refusal."""

    def seal(self, letter: Letter, payload: bytes) -> bytes:
        """The answer to a letter."""


class Bare:
    """Payloads as they are. Within a process there is one sender; who drives a run says which it is, with whom."""

    def __init__(self, run: str = "", cohort: tuple[str, ...] = ()) -> None:
        self.run, self.cohort = run, cohort

    def open(self, data: bytes, *, to_anyone: bool = False) -> Letter:  # noqa: ARG002
        """Nothing to open."""
        return Letter(self.run, 0, data, cohort=self.cohort)

    def refuse_foreign(self, letter: Letter, kind: str) -> None:
        """Nothing comes from elsewhere."""

    def seal(self, letter: Letter, payload: bytes) -> bytes:  # noqa: ARG002
        """Nothing to add."""
        return payload


class SiteState(Protocol):
    """What a site remembers: of each run its story, its answers and values in between; and of all runs together."""

    def memory(self, run: str) -> Memory:
        """Values that later requests of a run need."""

    def story(self, run: str) -> Story:
        """What was asked in a run."""

    def keep_story(self, run: str, story: Story) -> None:
        """Remember it instead of any before."""

    def answer(self, run: str, digest: str) -> bytes | None:
        """What was answered to a request."""

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """Remember it: the same request gets the same bytes."""

    def lasting(self) -> Pins:
        """What stays the same in all runs under the present agreement."""

    def keep_lasting(self, pins: Pins) -> None:
        """Add to it."""

    def admit(self, run: str) -> None:
        """Count a run once; raises `ProtocolError` where it is one too many, or rows or consent forbid it."""

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Count what fresh noise costs, before it is drawn; raises `ProtocolError` where too little is left."""


class TransientState:
    """A state that lives as long as the process."""

    def __init__(self) -> None:
        self._memories: dict[str, RunMemory] = {}
        self._stories: dict[str, Story] = {}
        self._answers: dict[tuple[str, str], bytes] = {}
        self._lasting: dict[str, str] = {}

    def memory(self, run: str) -> Memory:
        """Made when first asked for."""
        return self._memories.setdefault(run, RunMemory())

    def story(self, run: str) -> Story:
        """Begins when first asked for."""
        return self._stories.get(run, Story())

    def keep_story(self, run: str, story: Story) -> None:
        """Held on to."""
        self._stories[run] = story

    def answer(self, run: str, digest: str) -> bytes | None:
        """What was kept."""
        return self._answers.get((run, digest))

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """Held on to."""
        self._answers[run, digest] = payload

    def lasting(self) -> Pins:
        """What was kept."""
        return self._lasting

    def keep_lasting(self, pins: Pins) -> None:
        """Held on to."""
        self._lasting |= pins

    def admit(self, run: str) -> None:
        """A process counts no runs."""

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Nor what noise costs: it holds all rows anyway."""


class Endpoint:
    """Where a site meets its server."""

    def __init__(
        self,
        rules: Callable[[], SiteRules],
        respond: Respond,
        wrapping: Wrapping,
        state: SiteState,
        *,
        hides_defects: bool,
        table: Callable[[Request | None], Table] | None = None,
        words: Words = system_words,
        filters: Sequence[Filter] = (),
        record: Record | None = None,
        log_for: Callable[[str], logging.LoggerAdapter[logging.Logger]] | None = None,
    ) -> None:
        self._rules, self._hides_defects = rules, hides_defects  # rules that cannot be read are a reason to refuse
        self._respond, self._wrapping, self._state = respond, wrapping, state
        self._table = table  # where the site has rows of its own: as they are, or as a request sees them
        self._words = words  # from which noise is drawn; others than the system's in tests and experiments only
        self._filters, self._record, self._log_for = tuple(filters), record, log_for

    @classmethod
    def of_table(
        cls, table: Table, method: Method, policy: Policy, wrapping: Wrapping, state: SiteState, **others: Any
    ) -> "Endpoint":
        """The endpoint of a site that answers from its own rows."""
        rules = SiteRules(method, policy)
        known: dict[str, Table] = {}

        def seen(request: Request | None) -> Table:
            if not policy.min_cell or (request is not None and request.noisy):
                return table
            ranges = {} if request is None else dict(request.clips())
            return known.setdefault(
                repr(ranges), GuardedTable(table, held_back(table, method.nominal, policy.min_cell, ranges))
            )

        def respond(request: Request, run: str) -> Reply:
            return Client(seen(request), state.memory(run)).answer(request)

        how = {"hides_defects": policy.hides_defects, "table": seen, **others}
        return cls(lambda: rules, respond, wrapping, state, **how)

    def answer(self, data: bytes) -> bytes:
        """The sealed reply to a sealed request; a refusal where the request or the reply is not allowed."""
        return self.receive(data, "step", self._payload)

    def receive(self, data: bytes, kind: str, act: Callable[[Letter], bytes], *, to_anyone: bool = False) -> bytes:
        """What `act` makes of a letter, sealed; a refusal where it cannot, or where the letter is not for this site."""
        letter = self._wrapping.open(data, to_anyone=to_anyone)
        try:
            self._wrapping.refuse_foreign(letter, kind)
            payload = act(letter)
            self._log(letter, logging.INFO, "%s of round %d: answered with %d bytes", kind, len(payload))
        except FedSieveError as reason:
            self._log(letter, logging.WARNING, "%s of round %d: refused: %s", kind, reason)
            payload = self._refused(letter, str(reason))
        except Exception as error:
            if not self._hides_defects:
                raise
            self._log(letter, logging.ERROR, "%s of round %d: failed: %s", kind, type(error).__name__)
            payload = self._refused(letter, f"failed with {type(error).__name__}; see the site's log.")
        return self._wrapping.seal(letter, payload)

    def _payload(self, letter: Letter) -> bytes:
        """The reply to a letter. Under a policy that keeps a story, the same request gets the same bytes again."""
        request = decode(letter.payload)
        if not isinstance(request, Request):
            raise CodecError(f"was sent {type(request).__name__}, no request.")
        rules = self._rules()
        if self._table is not None:  # before anything is computed: even a refusal could tell of few rows
            rules.check_rows(self._table(None).n_rows)
        rules.check_request(request)
        digest = hashlib.sha256(letter.payload).hexdigest()
        if not rules.policy.keeps_story:
            return encode(self._reply(letter, request, digest, rules))
        shelf = letter.run if self._filters else rules.shelf(request, letter.run)  # a mask is good for one run
        payload = self._state.answer(shelf, digest)
        if payload is None:
            self._go_on(letter, request, digest, rules)
            payload = encode(self._reply(letter, request, digest, rules))
            self._state.keep_answer(shelf, digest, payload)
        if self._record is not None:
            reply = decode(payload)
            assert isinstance(reply, Reply)
            self._record(letter, request, reply, len(payload))
        return payload

    def _refused(self, letter: Letter, reason: str) -> bytes:
        refusal = Refusal(reason)
        payload = encode(refusal)
        if self._record is not None:
            self._record(letter, None, refusal, len(payload))
        return payload

    def _go_on(self, letter: Letter, request: Request, digest: str, rules: SiteRules) -> None:
        """Check that the request goes on with the run's story, and pin what it tells, before anything is computed."""
        state = self._state
        story = state.story(letter.run)
        if story.holds(digest):  # asked before, and interrupted
            return
        told = rules.check_story(request, digest, letter.cohort, story, state.lasting())
        table, seen = (None, None) if self._table is None else (self._table(None), self._table(request))
        rules.check_site(request, table, seen, state.memory(letter.run))
        state.admit(letter.run)
        state.keep_lasting(rules.lasting_pins(request))
        state.keep_story(letter.run, told)

    def _reply(self, letter: Letter, request: Request, digest: str, rules: SiteRules) -> Reply:
        reply = self._respond(request, letter.run)
        if isinstance(reply, Refusal):
            raise ProtocolError(reply.reason)
        rules.check_reply(request, reply)
        if self._table is not None:  # an edge server's sum has the noise of its sites
            spend = partial(self._state.spend, letter.run, digest)
            reply = rules.released(request, reply, spend, self._words)
        for passes in self._filters:
            reply = passes(request, reply)
        return reply

    def _log(self, letter: Letter, level: int, text: str, kind: str, what: object) -> None:
        if self._log_for is not None:
            self._log_for(letter.run).log(level, text, kind, letter.round, what)

"""A site's whole answer: bytes in, bytes out. Every runtime calls it, and none decides anything about privacy.

Open, check the agreement and the site's own policy, compute, add the agreed noise or masks, log what
left, seal.
"""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from fedsieve.errors import CodecError, FalseTotalError, FedSieveError, ProtocolError
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.messages.secure_sum import Step
from fedsieve.privacy import GuardedTable, Policy, SiteRules, check_rows_needed, held_back, with_views
from fedsieve.privacy.noise import Words, system_words
from fedsieve.protocol import Client, Method
from fedsieve.tables import Table
from fedsieve.text import without_folders
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.secure_answers import SecureAnswers, within
from fedsieve.transport.site_state import SiteState

Respond: TypeAlias = Callable[[Request, str], Reply]
"""The reply to a request of a run: a site's own computation, or an edge server's sum over its sites."""
Record: TypeAlias = Callable[["Letter", Request | None, Reply, int], None]
"""Told of every reply, with its bytes, before it leaves; a refusal may come without the request it answers."""
LIED_TO = "was told a false total in this run"


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
        table: Callable[[Request | None, str], Table] | None = None,
        sums: Callable[[], SecureAnswers] | None = None,
        words: Words = system_words,
        record: Record | None = None,
        log_for: Callable[[str], logging.LoggerAdapter[logging.Logger]] | None = None,
        place: str = "",
    ) -> None:
        self._rules, self._hides_defects = rules, hides_defects  # rules that cannot be read are a reason to refuse
        self._respond, self._wrapping, self._state = respond, wrapping, state
        self._table = table  # where the site has rows of its own: as they are in a run, or as a request sees them
        self._sums = sums  # where the site can take part in secure sums
        self._words = words  # from which noise is drawn; others than the system's in tests and experiments only
        self._record, self._log_for = record, log_for
        self._place = place  # of the site's files, which is its own matter

    @classmethod
    def of_table(
        cls,
        table: Table,
        method: Method,
        policy: Policy,
        wrapping: Wrapping,
        state: SiteState,
        sums: SecureAnswers | None = None,
        **others: Any,
    ) -> "Endpoint":
        """The endpoint of a site that answers from its own rows."""
        rules = SiteRules(method, policy)
        known: dict[str, Table] = {}

        def seen(request: Request | None, run: str) -> Table:
            if sums is not None:
                return sums.table(table, method, run)
            if not policy.min_cell or method.private:
                return table
            asked = () if request is None else (request.clips(), with_views(state.views(), request.views()))
            what = repr(asked)
            if what not in known:
                known[what] = GuardedTable(table, held_back(table, method.nominal, policy.min_cell, *asked))
            return known[what]

        def respond(request: Request, run: str) -> Reply:
            return Client(seen(request, run), state.memory(run)).answer(request)

        how = {"hides_defects": policy.hides_defects, "table": seen, "sums": sums and (lambda: sums), **others}
        return cls(lambda: rules, respond, wrapping, state, **how)

    def answer(self, data: bytes, kind: str = "step") -> bytes:
        """The sealed reply to a sealed request; a refusal where the request or the reply is not allowed."""
        return self.receive(data, kind, self._payload)

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
        if rules.policy.keeps_story:
            self._state.check_consent(letter.run)  # also for what was answered before, and for each step of a sum
            if ended := self._state.story(letter.run).ended:
                raise ProtocolError(f"{ended}, and answers no more in it. Start a new run.")
        try:
            return self._step(letter, request, rules) if rules.method.secure else self._plain(letter, request, rules)
        except FalseTotalError:
            if rules.policy.keeps_story:  # or totals of the server's choice, one after the other, would tell this part
                self._state.keep_story(letter.run, replace(self._state.story(letter.run), ended=LIED_TO))
            raise

    def _plain(self, letter: Letter, request: Request, rules: SiteRules) -> bytes:
        self._check(letter, request, rules)
        digest = hashlib.sha256(letter.payload).hexdigest()
        if not rules.policy.keeps_story:
            return encode(self._reply(letter, request, digest, rules))
        shelf = rules.shelf(request, letter.run)
        payload = self._state.answer(shelf, digest)
        if payload is None:
            self._go_on(letter, request, digest, rules)
            payload = encode(self._reply(letter, request, digest, rules))
            self._state.keep_answer(shelf, digest, payload)
        self._recorded(letter, request, payload)
        return payload

    def _recorded(self, letter: Letter, request: Request, payload: bytes) -> None:
        if self._record is not None:
            reply = decode(payload)
            assert isinstance(reply, Reply)
            self._record(letter, request, reply, len(payload))

    def _step(self, letter: Letter, request: Request, rules: SiteRules) -> bytes:
        """The reply to a step of a secure sum; a request by itself is not answered, whatever it asks."""
        if not isinstance(request, Step):
            raise ProtocolError(f"was asked {type(request).__name__} by itself; agreed: totals only, by secure sums.")
        if self._sums is None:
            raise ProtocolError("cannot take part in secure sums here.")

        def reply_to(inner: Request, digest: str, rules: SiteRules) -> Reply:
            self._check(letter, inner, rules)
            if rules.policy.keeps_story:
                self._go_on(letter, inner, digest, rules)
            return self._reply(letter, inner, digest, rules)

        payload = self._sums().payload(letter, request, rules, reply_to)
        self._recorded(letter, within(request), payload)
        return payload

    def _check(self, letter: Letter, request: Request, rules: SiteRules) -> None:
        if self._table is not None:  # before anything is computed: even a refusal could tell of few rows
            rules.check_rows(self._table(None, letter.run).n_rows)
        rules.check_request(request)

    def _refused(self, letter: Letter, reason: str) -> bytes:
        refusal = Refusal(without_folders(reason, self._place))
        payload = encode(refusal)
        if self._record is not None:
            self._record(letter, None, refusal, len(payload))
        return payload

    def _go_on(self, letter: Letter, request: Request, digest: str, rules: SiteRules) -> None:
        """Check that the request goes on with the run's story, and pin what it tells, before anything is computed."""
        state = self._state
        story = state.story(letter.run)
        if story.holds(digest):  # asked before, and interrupted: rows and consent may have changed since
            state.admit(letter.run)
            return
        told = rules.check_story(request, digest, letter.cohort, story, state.lasting())
        run, tables = letter.run, self._table
        table, seen = (None, None) if tables is None else (tables(None, run), tables(request, run))
        if table is not None and not story.asked:  # before a run's first answer; the table stays the same in it
            check_rows_needed(rules.method, rules.policy, table)
        whole = rules.check_site(
            request, (table, seen), state.memory(run), state.told(), state.n_changed(), letter.cohort
        )
        state.admit(letter.run)
        state.keep_told(whole)
        state.keep_lasting(rules.lasting_pins(request))
        if isinstance(seen, GuardedTable):  # of what is held back nothing is seen
            shown = {name: view for name, view in request.views().items() if name not in seen.held.constant}
            state.keep_views(with_views(state.views(), shown))
        state.keep_story(letter.run, told)

    def _reply(self, letter: Letter, request: Request, digest: str, rules: SiteRules) -> Reply:
        reply = self._respond(request, letter.run)
        if isinstance(reply, Refusal):
            raise ProtocolError(reply.reason)
        rules.check_reply(request, reply)
        if self._table is None:  # an edge server's sum has the noise of its sites
            return reply
        spend = partial(self._state.spend, letter.run, digest)
        return rules.released(request, reply, letter.cohort, spend, self._words)

    def _log(self, letter: Letter, level: int, text: str, kind: str, what: object) -> None:
        if self._log_for is not None:
            self._log_for(letter.run).log(level, text, kind, letter.round, what)

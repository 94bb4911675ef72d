"""The clients of one run, asked in two ways: for the sum over all of them, or for each one's reply.

A reply is believed only after it was checked. A method that asks for `total` alone runs unchanged where nobody sees a
single reply: behind edge servers, or under sums that are masked.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from fedsieve.errors import ProtocolError
from fedsieve.messages import Known, Reply, Request

if TYPE_CHECKING:
    from fedsieve.protocol.method import Labeled, Method
    from fedsieve.protocol.totals import KeptTotals

Result = TypeVar("Result")
SERVER = "server"


@dataclass(frozen=True, eq=False)
class Question:
    """A request for a runtime to carry: to whom, in which round, and who takes part besides.

    `own` are requests to single clients that differ from `request` in what is meant for them alone. A run that goes on
    without some of its clients is a new attempt, and to its sites a new run.
    """

    round: int
    clients: tuple[str, ...]
    request: Request
    cohort: tuple[str, ...] = ()
    attempt: int = 0
    own: Mapping[str, Request] = field(default_factory=dict)
    added: bool = False  # whether replies are only added up: each is looked at once, in the order of `clients`

    def request_to(self, client: str) -> Request:
        """What one client is asked."""
        return self.own.get(client, self.request)

    def run_at_sites(self, run: str) -> str:
        """The name under which sites know the attempt."""
        return f"{run}.{self.attempt}" if self.attempt else run


Replies: TypeAlias = Mapping[str, Reply]
Steps: TypeAlias = Generator[Question, Replies, Result]
"""Yields questions, is sent the replies by client, returns a result: no I/O, so that any runtime can drive it."""
Observer: TypeAlias = Callable[[str, Request, Any], str | None]
"""Told client, request and checked reply before it is added; a reason that it returns refuses the reply."""


class BadReplyError(ProtocolError):
    """Replies of one round that cannot be used: all of them, so that clients lost together are dropped together."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__(" ".join(f"client {client!r}: {reason}" for client, reason in reasons.items()))
        self.reasons = reasons

    def __reduce__(self) -> tuple[type, tuple[dict[str, str]]]:
        """By its reasons: from a worker's process the message alone would not make it anew."""
        return type(self), (self.reasons,)


class Cohort(Protocol):
    """What a method may ask of its clients."""

    unseen: str
    """Why single replies are not seen; empty where they are."""
    n_rows: dict[str, int] | None
    """The rows of each client, as far as its replies are seen."""
    noise_shares: int
    """Among how many clients the noise of a noisy reply is shared; 1 where each has the whole."""
    compares_all: bool
    """Whether every client is known to compare all of its rows where rows are compared, not a sample of them."""

    def observe(self, observer: Observer) -> None:
        """Show an observer every checked reply from now on; where none is seen it is never called."""

    def total(self, request: Request, own: Reply | None = None) -> Steps[Any]:
        """One round: the sum of all clients' replies, and of the server's own where it answers like one more site."""

    def each(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:
        """One round: every client's reply by name, or what `take` makes of it on arrival, for large replies."""


class RunCohort(Cohort, Protocol):
    """A cohort as the server's loop sees it."""

    round: int
    """The last round, over all attempts."""
    dropped: dict[str, str]
    """Clients without which the run went on, and why."""

    def keep_totals(self, totals: "KeptTotals") -> None:
        """Have every total kept from now on."""

    def begin(self, method: "Method", labeled: "Labeled") -> Steps[tuple["Method", "Labeled", tuple[str, ...]]]:
        """What of the method and of the server's rows takes part, and the columns that are left out of all tables."""


class PlainCohort:
    """A cohort whose single replies reach the server, which checks each, shows it to observers, and adds up.

    Clients are taken in the order of their names, so that no sum depends on who answered first.
    """

    unseen, noise_shares, compares_all = "", 1, False

    def __init__(
        self,
        clients: Iterable[str],
        max_sites_per_client: int = 1,
        rounds_before: int = 0,
        max_rows: int | None = None,
        attempt: int = 0,
    ) -> None:
        self.clients = tuple(sorted(clients))
        self.round, self._attempt = rounds_before, attempt
        self.dropped: dict[str, str] = {}
        self.n_rows: dict[str, int] | None = {}
        self._max_sites, self._max_rows = max_sites_per_client, max_rows
        self._observers: list[Observer] = []
        self._totals: KeptTotals | None = None
        self._earlier: dict[str, dict[type[Request], tuple[Request, Reply]]] = {name: {} for name in self.clients}

    def begin(self, method: "Method", labeled: "Labeled") -> Steps[tuple["Method", "Labeled", tuple[str, ...]]]:
        """All of it takes part."""
        yield from ()
        return method, labeled, ()

    def observe(self, observer: Observer) -> None:
        """Show it every reply that passed the checks."""
        self._observers.append(observer)

    def keep_totals(self, totals: "KeptTotals") -> None:
        """Show it every sum; it keeps none where single replies are used."""
        self._totals = totals
        totals.begin(self)

    def total(self, request: Request, own: Reply | None = None) -> Steps[Any]:
        """Everybody is asked; the replies are added up one after the other. Without clients the server's own is all."""
        self.round += 1
        replies = yield replace(self._question(self.clients, request), added=True)
        believed = self._one_by_one(request, replies)
        total = reduce(add, believed if own is None else chain([own], believed))
        if self._totals is not None:
            self._totals.keep(request, total)
        return total

    def each(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:
        """Everybody is asked at once, or, where replies are taken on arrival, one client after the other."""
        if self._totals is not None:
            self._totals.give_up("the method needs every site's own replies, which are not kept")
        return (yield from self._gathered(request, take))

    def _gathered(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:
        self.round += 1
        if take is None:
            replies = yield self._question(self.clients, request)
            return self._believed(request, replies, self.clients)
        taken = {}
        for client in self.clients:
            replies = yield self._question((client,), request)
            taken[client] = take(self._believed(request, replies, (client,))[client])
        return taken

    def _question(self, clients: tuple[str, ...], request: Request) -> Question:
        return Question(self.round, clients, request, self.clients, self._attempt)

    def _believed(self, request: Request, replies: Replies, clients: tuple[str, ...]) -> dict[str, Any]:
        """The replies, once none of them breaks a rule and no observer objects."""
        self._refuse({name: self._why_refused(name, request, replies) for name in clients})
        for observer in self._observers:
            self._refuse({name: observer(name, request, replies[name]) for name in clients})
        for name in clients:
            self._remember(name, request, replies[name])
        return {name: replies[name] for name in clients}

    def _one_by_one(self, request: Request, replies: Replies) -> Iterator[Any]:
        """The same for who needs each reply once: none is held here, unless an observer holds it.

        Once one is refused the others are only checked, so that all are named that break a rule.
        """
        refused: dict[str, str | None] = {}
        objections: list[dict[str, str | None]] = [{} for _ in self._observers]
        for name in self.clients:
            there = {name: replies[name]} if name in replies else {}
            if reason := self._why_refused(name, request, there):
                refused[name] = reason
                continue
            reply = there.pop(name)
            for observer, objected in zip(self._observers, objections, strict=True):
                if reason := observer(name, request, reply):
                    objected[name] = reason
            self._remember(name, request, reply)
            if not refused and not any(objections):
                yield reply
        for reasons in (refused, *objections):
            self._refuse(reasons)

    def _remember(self, client: str, request: Request, reply: Reply) -> None:
        assert self.n_rows is not None
        self.n_rows[client] = reply.n_rows
        if request.remembered:
            self._earlier[client][type(request)] = request, reply

    def _why_refused(self, client: str, request: Request, replies: Replies) -> str | None:
        if client not in replies:
            return "did not answer."
        n_rows = None if self.n_rows is None else self.n_rows.get(client)
        known = Known(n_rows, self._earlier[client], self._max_sites, self._max_rows)
        return request.why_refused(replies[client], known)

    def _refuse(self, reasons: Mapping[str, str | None]) -> None:
        bad = {client: reason for client, reason in reasons.items() if reason}
        if bad:
            raise BadReplyError(bad)

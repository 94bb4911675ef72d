"""The clients of one run and the rule that a reply is believed only after it was checked."""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.plan import Plan
from fedsieve.protocol.validation import Expected, why_refused

Result = TypeVar("Result")
SERVER = "server"


@dataclass(frozen=True, eq=False)
class Ask:
    """A question for the runtime to carry: to whom, in which round, what."""

    round: int
    clients: tuple[str, ...]
    request: m.Request


Replies: TypeAlias = Mapping[str, m.Reply]
Talk: TypeAlias = Generator[Ask, Replies, Result]


class BadReplyError(ProtocolError):
    """Replies of one round that cannot be used: all of them, so that clients lost together are dropped together."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__(" ".join(f"client {client!r}: {reason}" for client, reason in reasons.items()))
        self.reasons = reasons


class Cohort:
    """Asks all clients of a run, checks what comes back, and returns it in the order of their names.

    The order fixes the order of all later additions, so that a result does not depend on who answered first.
    """

    def __init__(self, clients: Iterable[str], plan: Plan, rounds_before: int = 0) -> None:
        self.clients = tuple(sorted(clients))
        self.round = rounds_before
        self.n_rows: dict[str, int] = {}
        self._plan = plan
        self._before: dict[str, tuple[m.Request, m.Reply]] = {}  # what later replies must not contradict

    @property
    def total_rows(self) -> int:
        """The rows of all clients together."""
        return sum(self.n_rows.values())

    def ask(self, request: m.Request) -> Talk[list[Any]]:
        """One round: everybody is asked, replies come back in the order of names."""
        self.round += 1
        replies = yield Ask(self.round, self.clients, request)
        reasons = {client: self._why_refused(client, request, replies) for client in self.clients}
        bad = {client: reason for client, reason in reasons.items() if reason}
        if bad:
            raise BadReplyError(bad)
        return [self._taken(client, request, replies[client]) for client in self.clients]

    def ask_in_turn(self, request: m.Request, take: Callable[[Any], Result]) -> Talk[list[Result]]:
        """One round in which a reply is reduced by `take` before the next client is asked: for large replies."""
        self.round += 1
        taken = []
        for client in self.clients:
            replies = yield Ask(self.round, (client,), request)
            reason = self._why_refused(client, request, replies)
            if reason:
                raise BadReplyError({client: reason})
            taken.append(take(self._taken(client, request, replies[client])))
        return taken

    def _why_refused(self, client: str, request: m.Request, replies: Replies) -> str | None:
        if client not in replies:
            return "did not answer."
        return why_refused(request, replies[client], self._expected(client))

    def _taken(self, client: str, request: m.Request, reply: m.Reply) -> m.Reply:
        assert not isinstance(reply, m.Refusal)
        self.n_rows[client] = reply.n_rows
        if isinstance(reply, m.Ranges | m.Products):
            self._before[client] = request, reply
        return reply

    def _expected(self, client: str) -> Expected:
        may_miss = self._plan.missing == "unrelated"
        n_rows, before = self.n_rows.get(client), self._before.get(client)
        return Expected(self._plan.nominal, may_miss, n_rows, before, self._plan.max_sites_per_client)

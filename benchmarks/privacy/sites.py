"""The real path between an attack and a site: its endpoint, and what an honest run shows of it."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from fedsieve.messages import Reply, Request
from fedsieve.privacy import Policy
from fedsieve.protocol import Labeled, Method, Question
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.exchange import Answer, drive
from fedsieve.transport.site_state import TransientState

Ask: TypeAlias = Callable[[Request], Reply]
"""One site, as a server meets it: a request in, a reply or a refusal out."""
Seen: TypeAlias = list[tuple[Request, Reply]]
"""What a server asked one site in one run, and was answered."""


def site(table: Table, method: Method, policy: Policy, cohort: tuple[str, ...] = ("a", "b", "c")) -> Ask:
    """A site that joined under this policy, in a run of this cohort."""
    endpoint = Endpoint.of_table(table, method, policy, Bare(cohort=cohort), TransientState())

    def ask(request: Request) -> Reply:
        reply = decode(endpoint.answer(encode(request)))
        assert isinstance(reply, Reply)
        return reply

    return ask


def honest_run(method: Method, labeled: Labeled, tables: Mapping[str, Table], policy: Policy, of: str) -> Seen:
    """What a whole run of the method shows of one of its sites."""
    asks = {name: site(table, method, policy) for name, table in tables.items()}
    seen: Seen = []

    def exchange(question: Question) -> dict[str, Answer]:
        replies = {name: asks[name](question.request) for name in question.clients}
        if of in replies:
            seen.append((question.request, replies[of]))
        return {name: Answer(reply, 1) for name, reply in replies.items()}

    drive(method, labeled, tuple(tables), exchange)
    return seen


def first_of(seen: Seen, kind: type[Request]) -> tuple[Request, Reply]:
    """The first request of a kind, and its reply."""
    return next((request, reply) for request, reply in seen if type(request) is kind)

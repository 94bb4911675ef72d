"""A run in which one site's rows stand for all sites: the replies that would leave it, without a server.

The site's own endpoint answers, under its own policy. The server's part is played here with made-up labels, so what a
later request asks for (ranges, directions, which columns) is not what a real server will ask.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from fedsieve.errors import FedSieveError
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.privacy import Policy
from fedsieve.privacy.taking_part import first_request
from fedsieve.protocol import Labeled, Method, Question
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.exchange import Answer, drive
from fedsieve.transport.site_state import TransientState

FROM_AGREEMENT = {"columns", "labels"}  # fields of a request that no server chooses


@dataclass(frozen=True, eq=False)
class Said:
    """One reply as it would leave, and the request that it answers."""

    request: Request
    reply: Reply
    n_bytes: int

    @property
    def depends(self) -> bool:
        """Whether its numbers depend on what the server asks, and not on rows and agreement alone."""
        return bool({part.name for part in fields(self.request)} - FROM_AGREEMENT)  # type: ignore[arg-type]

    def readable(self) -> dict[str, Any]:
        """The reply's fields with the columns' names at the numbers, wherever their count tells which is meant."""
        own = {part.name: getattr(self.reply, part.name) for part in fields(self.reply)}  # type: ignore[arg-type]
        names = _names(self.reply) or _names(self.request)
        return {key: _named(value, names) for key, value in own.items()}


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """All that a site would say, in order, and why the run ended early, if it did."""

    said: list[Said] = field(default_factory=list)
    ended: str = ""


def rehearse(method: Method, labeled: Labeled, table: Table, policy: Policy) -> Rehearsal:
    """Run the method with the table in the place of every site; each different request is answered once."""
    said: list[Said] = []
    if method.secure:  # what would be masked is shown as it is; rules that count the rows of all sites cannot be tried
        first = first_request(method)
        counts = first.answer(table)
        said.append(Said(first, counts, len(encode(counts))))
        method, policy = replace(method, secure=False), replace(policy, min_rows=0, min_cell=0, rows_per_column=0)
    sites = tuple(f"site-{i}" for i in range(max(method.min_clients, policy.min_cohort)))
    endpoint = Endpoint.of_table(table, method, policy, Bare(cohort=sites), TransientState())
    answered: dict[bytes, Answer] = {}

    def exchange(question: Question) -> dict[str, Answer]:
        request = encode(question.request)
        if request not in answered:
            payload = endpoint.answer(request)
            reply = decode(payload)
            assert isinstance(reply, Reply)
            said.append(Said(question.request, reply, len(payload)))
            answered[request] = Answer(reply, len(payload))
        return dict.fromkeys(question.clients, answered[request])

    try:
        drive(method, labeled, sites, exchange)
    except FedSieveError as error:
        refusals = [one.reply.reason for one in said if isinstance(one.reply, Refusal)]
        return Rehearsal(said, refusals[0] if refusals else str(error))
    return Rehearsal(said)


def _names(message: object) -> tuple[str, ...]:
    columns = getattr(message, "columns", message)
    return (*getattr(columns, "features", ()), *getattr(message, "labels", ()))


def _named(value: Any, names: tuple[str, ...]) -> Any:
    """Plain values; an array by the columns' names along each axis that has as many entries, a triangle as a table."""
    if not isinstance(value, np.ndarray):
        return list(value) if isinstance(value, tuple) else value
    n = len(names)
    if value.ndim == 1 and n > 1 and len(value) == n * (n + 1) // 2:
        first, second = np.triu_indices(n)
        triangle: dict[str, dict[str, Any]] = {}
        for i, j, number in zip(first, second, value, strict=True):
            triangle.setdefault(names[i], {})[names[j]] = _plain(number)
        return triangle
    parts = [_plain(part) if value.ndim == 1 else _named(part, names) for part in value]
    return dict(zip(names, parts, strict=True)) if n and len(value) == n else parts


def _plain(number: Any) -> Any:
    """As JSON can hold it: it has no words for what is not finite."""
    return number.item() if np.isfinite(number) else str(number)

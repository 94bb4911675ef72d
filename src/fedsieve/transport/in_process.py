"""A federation inside one process: every client is an endpoint here, and messages are bytes as on a network."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fedsieve.errors import CodecError
from fedsieve.messages import Reply
from fedsieve.privacy import LIBRARY, Policy
from fedsieve.privacy.noise import Words, system_words
from fedsieve.protocol import Labeled, Method, Question
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.outcome import Outcome
from fedsieve.protocol.parties import rows_seed, secret_seed
from fedsieve.protocol.totals import KeptTotals
from fedsieve.tables import Table, compared_rows
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.exchange import Answer, AnswersInTurn, drive
from fedsieve.transport.secure_answers import method_digest, secure_cohorts, secure_members
from fedsieve.transport.site_state import TransientState

RUN = "run"


def select(
    method: Method,
    labeled: Labeled,
    tables: Mapping[str, Table],
    watch: Callable[[Question], None] | None = None,
    *,
    answered: Callable[[Question], None] | None = None,
    policy: Policy = LIBRARY,
    kept: KeptReplies | None = None,
    words: Words = system_words,
    totals: KeptTotals | None = None,
    seed: int = 0,
) -> Outcome:
    """Run the selection with all sites in this process.

    `watch` is told of every question before it is asked, `answered` once all its answers are here.

    `seed` stands for the sites' secrets, by which they draw rows and pairs of them. `words` are what noise is drawn
    from; experiments that are to be repeated give seeded ones.
    """
    method = _for_tables(method, tables)
    secrets = {name: secret_seed(str(seed).encode(), name) for name in tables}
    tables = {name: table.drawing_from(rows_seed(secrets[name])) for name, table in tables.items()}
    wrapping, states = Bare(), {name: TransientState(secret) for name, secret in secrets.items()}
    gather, sums = None, dict[str, Any]()
    if method.secure:
        members, sums = secure_members(method, states)
        gather = secure_cohorts(method, RUN, method_digest(method), members)
    endpoints = {
        name: Endpoint.of_table(table, method, policy, wrapping, states[name], sums.get(name), words=words)
        for name, table in tables.items()
    }

    def exchange(question: Question) -> Mapping[str, Answer]:
        if watch is not None:
            watch(question)
        wrapping.run, wrapping.cohort = question.run_at_sites(RUN), question.cohort
        data = encode(question.request)

        def answer(name: str) -> Answer:
            payload = endpoints[name].answer(encode(question.own[name]) if name in question.own else data)
            reply = decode(payload)
            if not isinstance(reply, Reply):
                raise CodecError(f"client {name!r} answered with {type(reply).__name__}, no reply.")
            method.check_message_size(name, type(reply).__name__, len(payload))
            if answered is not None and name == question.clients[-1]:
                answered(question)
            return Answer(reply, len(payload))

        if question.added:
            return AnswersInTurn(question.clients, answer)
        return {name: answer(name) for name in question.clients}

    compares_all = all(compared_rows(table) is None for table in tables.values())
    return drive(method, labeled, tuple(endpoints), exchange, kept, gather, totals, compares_all=compares_all)


def _for_tables(method: Method, tables: Mapping[str, Table]) -> Method:
    """With tables at hand nobody need claim anything: unless a bound was given, it is no less than they have."""
    most = min(max((table.n_rows for table in tables.values()), default=0), method.most_rows)
    if method.max_rows != type(method).max_rows or most <= method.max_rows:
        return method
    return replace(method, max_rows=most)

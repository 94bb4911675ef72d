"""A federation inside one process: every client is an endpoint here, and messages are bytes as on a network."""

from collections.abc import Callable, Mapping
from typing import Any

from fedsieve.errors import CodecError
from fedsieve.messages import Reply
from fedsieve.privacy import LIBRARY, Policy
from fedsieve.privacy.noise import Words, system_words
from fedsieve.protocol import Labeled, Method, Question
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.outcome import Outcome
from fedsieve.protocol.totals import KeptTotals
from fedsieve.tables import Table
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.exchange import Answer, drive
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
) -> Outcome:
    """Run the selection with all sites in this process.

    `watch` is told of every question before it is asked, `answered` once all its answers are here.

    `words` are what noise is drawn from; experiments that are to be repeated give seeded ones.
    """
    wrapping, states = Bare(), {name: TransientState() for name in tables}
    gather, sums = None, dict[str, Any]()
    if method.secure:
        members, sums = secure_members(method, states)
        gather = secure_cohorts(method, RUN, method_digest(method), members)
    endpoints = {
        name: Endpoint.of_table(table, method, policy, wrapping, states[name], sums.get(name), words=words)
        for name, table in tables.items()
    }

    def exchange(question: Question) -> dict[str, Answer]:
        if watch is not None:
            watch(question)
        wrapping.run, wrapping.cohort = question.run_at_sites(RUN), question.cohort
        data, answers = encode(question.request), {}
        for name in question.clients:
            payload = endpoints[name].answer(encode(question.own[name]) if name in question.own else data)
            reply = decode(payload)
            if not isinstance(reply, Reply):
                raise CodecError(f"client {name!r} answered with {type(reply).__name__}, no reply.")
            method.check_message_size(name, type(reply).__name__, len(payload))
            answers[name] = Answer(reply, len(payload))
        if answered is not None:
            answered(question)
        return answers

    return drive(method, labeled, tuple(endpoints), exchange, kept, gather, totals)

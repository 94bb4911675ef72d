"""The server's loop, which every runtime shares: takes questions from the generator, carries them, counts the bytes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from fedsieve.messages import Reply
from fedsieve.protocol import SERVER, Labeled, Method, Question, SentMessage, federated_selection
from fedsieve.protocol.influence import KeptReplies
from fedsieve.protocol.outcome import Outcome
from fedsieve.protocol.parties import GatherCohort
from fedsieve.protocol.totals import KeptTotals
from fedsieve.transport.codec import encoded_size


class Answer(NamedTuple):
    """What came back from one client: the reply and the size of its encoded form, 0 where nothing came."""

    reply: Reply
    n_bytes: int


Exchange: TypeAlias = Callable[[Question], Mapping[str, Answer]]
"""Carries one question to its clients and returns the answers that came back, by client."""


def drive(
    method: Method,
    labeled: Labeled,
    clients: tuple[str, ...],
    exchange: Exchange,
    kept: KeptReplies | None = None,
    gather: GatherCohort | None = None,
    totals: KeptTotals | None = None,
) -> Outcome:
    """Run the selection with the named clients; how messages travel is `exchange`'s business."""
    steps = federated_selection(method, labeled, clients, kept, gather, totals)
    transcript: list[SentMessage] = []
    question = next(steps)
    while True:
        kind, size = type(question.request).__name__, encoded_size(question.request)
        sizes = {name: encoded_size(question.own[name]) if name in question.own else size for name in question.clients}
        method.check_message_size(SERVER, kind, max([size, *sizes.values()]))
        answers = exchange(question)
        for name in question.clients:
            transcript.append(SentMessage(question.round, SERVER, name, kind, sizes[name]))
            if name in answers and answers[name].n_bytes:
                reply, n_bytes = answers[name]
                transcript.append(SentMessage(question.round, name, SERVER, type(reply).__name__, n_bytes))
        try:
            question = steps.send({name: answer.reply for name, answer in answers.items()})
        except StopIteration as finished:
            return Outcome(finished.value, tuple(transcript))

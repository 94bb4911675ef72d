"""The loop that every runtime shares: takes questions from the server's generator, carries them, counts the bytes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from fedsieve.protocol import SERVER, Ask, Entry, Labeled, Plan, Selection, federated_selection
from fedsieve.protocol.limits import check_message
from fedsieve.protocol.messages import Reply
from fedsieve.transport.codec import encoded_size


@dataclass(frozen=True, eq=False)
class Outcome:
    """A selection and what was said on the way."""

    selection: Selection
    transcript: tuple[Entry, ...]


class Answer(NamedTuple):
    """What came back from one client: the reply and the size of its encoded form, 0 where nothing came."""

    reply: Reply
    n_bytes: int


Exchange: TypeAlias = Callable[[Ask], Mapping[str, Answer]]
"""Carries one question to its clients and returns the answers that came back, by client."""


def drive(plan: Plan, labeled: Labeled, clients: tuple[str, ...], exchange: Exchange) -> Outcome:
    """Run the selection with the named clients; how messages travel is `exchange`'s business."""
    talk = federated_selection(plan, labeled, clients)
    transcript: list[Entry] = []
    ask = next(talk)
    while True:
        kind, n_bytes = type(ask.request).__name__, encoded_size(ask.request)
        check_message(plan, SERVER, kind, n_bytes)
        answers = exchange(ask)
        for name in ask.clients:
            transcript.append(Entry(ask.round, SERVER, name, kind, n_bytes))
            if name in answers and answers[name].n_bytes:
                reply, size = answers[name]
                transcript.append(Entry(ask.round, name, SERVER, type(reply).__name__, size))
        try:
            ask = talk.send({name: answer.reply for name, answer in answers.items()})
        except StopIteration as finished:
            return Outcome(finished.value, tuple(transcript))

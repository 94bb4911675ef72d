"""The server's loop, which every runtime shares: takes questions from the generator, carries them, counts the bytes."""

from collections.abc import Callable, Iterator, Mapping
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


class AnswersInTurn(Mapping[str, Answer]):
    """Answers that are had when they are looked at, and held by nobody else: for a question whose replies are added."""

    def __init__(self, clients: tuple[str, ...], answer: Callable[[str], Answer]) -> None:
        self._clients, self._answer = clients, answer

    def __getitem__(self, client: str) -> Answer:
        return self._answer(client)

    def __contains__(self, client: object) -> bool:
        return client in self._clients

    def __iter__(self) -> Iterator[str]:
        return iter(self._clients)

    def __len__(self) -> int:
        return len(self._clients)


class _Noted(Mapping[str, Reply]):
    """The replies of answers; notes the kind and size of each that is looked at."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers
        self.said: dict[str, tuple[str, int]] = {}

    def __getitem__(self, client: str) -> Reply:
        reply, n_bytes = self._answers[client]
        self.said[client] = type(reply).__name__, n_bytes
        return reply

    def __contains__(self, client: object) -> bool:
        return client in self._answers

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)


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
    *,
    compares_all: bool = False,
) -> Outcome:
    """Run the selection with the named clients; how messages travel is `exchange`'s business."""
    steps = federated_selection(method, labeled, clients, kept, gather, totals, compares_all=compares_all)
    transcript: list[SentMessage] = []
    question = next(steps)
    while True:
        kind, size = type(question.request).__name__, encoded_size(question.request)
        sizes = {name: encoded_size(question.own[name]) if name in question.own else size for name in question.clients}
        method.check_message_size(SERVER, kind, max([size, *sizes.values()]))
        answers = exchange(question)
        replies = _Noted(answers)
        following: Question | None = None
        try:
            following = steps.send(replies if question.added else dict(replies))
        except StopIteration as finished:
            outcome = finished.value
        for name in question.clients:
            transcript.append(SentMessage(question.round, SERVER, name, kind, sizes[name]))
            sort, n_bytes = replies.said.get(name, ("", 0))
            if n_bytes:
                transcript.append(SentMessage(question.round, name, SERVER, sort, n_bytes))
        if following is None:
            return Outcome(outcome, tuple(transcript))
        question = following

"""Rounds that survive the server's death: every round's replies are kept, and a new process is told them again.

The server's side is a generator without clock or chance, so the same replies lead it to the same place: nothing but the
replies needs to be kept. A round that was not complete is asked again.
"""

import hashlib
import json
import struct
from collections.abc import Mapping

from fedsieve.deployment.runs import RunFolder
from fedsieve.errors import DataError
from fedsieve.messages import Reply
from fedsieve.protocol import Question
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.exchange import Answer, Exchange

LENGTH = struct.Struct("<I")


class Checkpointed:
    """An exchange that keeps what came back, and repeats it instead of asking where it is kept already."""

    def __init__(self, exchange: Exchange, run: RunFolder) -> None:
        self._exchange, self._run = exchange, run
        self._number = 0
        self.n_repeated = 0

    def __call__(self, question: Question) -> Mapping[str, Answer]:
        """The answers to a question, kept or fresh."""
        self._number += 1
        asked = _fingerprint(question)
        kept = self._run.kept(self._number)
        if kept is not None:
            self.n_repeated += 1
            return _unpack(kept, asked, self._run.id)
        answers = self._exchange(question)
        self._run.keep(self._number, _pack(answers, asked))
        return answers


def _fingerprint(question: Question) -> str:
    head = json.dumps([question.round, list(question.clients)]).encode()
    return hashlib.sha256(head + encode(question.request)).hexdigest()


def _pack(answers: Mapping[str, Answer], asked: str) -> bytes:
    replies = {name: encode(answer.reply) for name, answer in answers.items()}
    entries = [[name, len(replies[name]), answer.n_bytes] for name, answer in answers.items()]
    header = json.dumps({"question": asked, "answers": entries}).encode()
    return b"".join([LENGTH.pack(len(header)), header, *replies.values()])


def _unpack(content: bytes, asked: str, run: str) -> dict[str, Answer]:
    (n_header,) = LENGTH.unpack_from(content)
    place = LENGTH.size + n_header
    header = json.loads(content[LENGTH.size : place])
    if header["question"] != asked:
        raise DataError(
            f"run {run}: what was asked before does not fit the agreement and labeled rows of now. "
            "Start a new run instead of resuming this one."
        )
    answers = {}
    for name, length, n_bytes in header["answers"]:
        reply = decode(content[place : place + length])
        assert isinstance(reply, Reply)
        answers[name] = Answer(reply, n_bytes)
        place += length
    return answers

"""Rounds that survive the server's death: every round's replies are kept, and a new process is told them again.

The server's side is a generator without clock or chance, so the same replies lead it to the same place: nothing but the
replies needs to be kept. A round that was not complete is asked again, and so is one whose file was damaged since.
"""

import hashlib
import json
import struct
from collections.abc import Mapping

from fedsieve.deployment.runs import RunFolder
from fedsieve.errors import CodecError, DataError
from fedsieve.messages import Reply
from fedsieve.protocol import Question
from fedsieve.transport.codec import DIGEST, decode, encode
from fedsieve.transport.exchange import Answer, Exchange

LENGTH = struct.Struct("<I")


class Checkpointed:
    """An exchange that keeps what came back, and repeats it instead of asking where it is kept already."""

    def __init__(self, exchange: Exchange, run: RunFolder) -> None:
        self._exchange, self._run = exchange, run
        self._number = 0
        self._asked_again = False
        self.n_repeated = 0

    def __call__(self, question: Question) -> Mapping[str, Answer]:
        """The answers to a question, kept or fresh."""
        self._number += 1
        asked = _fingerprint(question)
        kept = self._run.kept(self._number)
        if kept is not None:
            opened = self._opened(kept, asked)
            if opened is not None:
                self.n_repeated += 1
                return opened
        answers = self._exchange(question)
        self._run.keep(self._number, _pack(answers, asked))
        return answers

    def _opened(self, kept: bytes, asked: str) -> dict[str, Answer] | None:
        """What was kept of this round; `None`, and it is set aside, where it is of no use."""
        reason = "its file is cut or damaged"
        try:
            question, answers = _unpack(kept)
            if question == asked:
                return answers
            reason = "it followed a damaged round, which was answered otherwise now"
            if not self._asked_again:
                raise DataError(
                    f"run {self._run.id}: what was asked before does not fit the agreement and labeled rows of now. "
                    "Start a new run instead of resuming this one."
                )
        except CodecError:
            pass
        self._asked_again = True
        file = self._run.set_aside(self._number)
        self._run.tell("asked again", number=self._number, reason=reason, file=str(file))
        return None


def _fingerprint(question: Question) -> str:
    head = json.dumps([question.round, list(question.clients)]).encode()
    requests = (question.request, *(question.own[name] for name in sorted(question.own)))
    return hashlib.sha256(head + b"".join(map(encode, requests))).hexdigest()


def _pack(answers: Mapping[str, Answer], asked: str) -> bytes:
    """The SHA-256 of all that follows; the header's length; the header; the replies one after another."""
    replies = {name: encode(answer.reply) for name, answer in answers.items()}
    entries = [[name, len(replies[name]), answer.n_bytes] for name, answer in answers.items()]
    header = json.dumps({"question": asked, "answers": entries}).encode()
    content = b"".join([LENGTH.pack(len(header)), header, *replies.values()])
    return hashlib.sha256(content).digest() + content


def _unpack(kept: bytes) -> tuple[str, dict[str, Answer]]:
    """The question's fingerprint and the answers; `CodecError` for anything that `_pack` did not write."""
    digest, content = kept[:DIGEST], kept[DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise CodecError("the round does not match its SHA-256.")
    (n_header,) = LENGTH.unpack_from(content)
    place = LENGTH.size + n_header
    header = json.loads(content[LENGTH.size : place])
    answers = {}
    for name, length, n_bytes in header["answers"]:
        reply = decode(content[place : place + length])
        assert isinstance(reply, Reply)
        answers[name] = Answer(reply, n_bytes)
        place += length
    return header["question"], answers

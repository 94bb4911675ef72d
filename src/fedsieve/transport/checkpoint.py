"""Rounds that survive the server's death: every round's replies are kept, and a new process is told them again.

The server's side is a generator without clock or chance, so the same replies lead it to the same place: nothing but the
replies needs to be kept. A round that was not complete is asked again, and so is one whose file was damaged since.
Replies that are only added up are read from the file one at a time, so that no process holds those of all sites.
"""

import hashlib
import json
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment.runs import RunFolder
from fedsieve.errors import CodecError, DataError
from fedsieve.messages import Reply
from fedsieve.protocol import Question
from fedsieve.transport.codec import DIGEST, decode, encode
from fedsieve.transport.exchange import Answer, AnswersInTurn, Exchange

LENGTH = struct.Struct("<I")
PIECE = 1 << 20  # bytes of a file that are looked at together


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
        file = self._run.kept_file(self._number)
        if file is not None:
            opened = self._opened(file, asked)
            if opened is not None:
                self.n_repeated += 1
                return opened.answers(question)
        answers = self._exchange(question)
        self._run.keep_file(self._number, lambda path: _pack(path, answers, asked))
        return answers if not question.added else self._kept().answers(question)

    def _kept(self) -> "_Round":
        file = self._run.kept_file(self._number)
        assert file is not None
        return _Round.read(file)

    def _opened(self, file: Path, asked: str) -> "_Round | None":
        """What was kept of this round; `None`, and it is set aside, where it is of no use."""
        reason = "its file is cut or damaged"
        try:
            kept = _Round.read(file)
            if kept.question == asked:
                return kept
            reason = "it followed a damaged round, which was answered otherwise now"
            if not self._asked_again:
                raise DataError(
                    f"run {self._run.id}: what was asked before does not fit the agreement and labeled rows of now. "
                    "Start a new run instead of resuming this one."
                )
        except CodecError:
            pass
        self._asked_again = True
        aside = self._run.set_aside(self._number)
        self._run.tell("asked again", number=self._number, reason=reason, file=str(aside))
        return None


def _fingerprint(question: Question) -> str:
    head = json.dumps([question.round, list(question.clients)]).encode()
    requests = (question.request, *(question.own[name] for name in sorted(question.own)))
    return hashlib.sha256(head + b"".join(map(encode, requests))).hexdigest()


def _pack(path: Path, answers: Mapping[str, Answer], asked: str) -> None:
    """The SHA-256 of all that follows; the header's length; the header; the replies one after another.

    Each answer is looked at once, and written before the next one.
    """
    entries = []
    with tempfile.TemporaryFile(dir=path.parent) as body:
        for name in answers:
            reply, n_bytes = answers[name]
            entries.append([name, body.write(encode(reply)), n_bytes])
        header = json.dumps({"question": asked, "answers": entries}).encode()
        head = LENGTH.pack(len(header)) + header
        with path.open("wb") as file:
            file.write(bytes(DIGEST) + head)
            digest = hashlib.sha256(head)
            body.seek(0)
            while piece := body.read(PIECE):
                digest.update(piece)
                file.write(piece)
            file.seek(0)
            file.write(digest.digest())


@dataclass(frozen=True)
class _Round:
    """A file that `_pack` wrote: the question's fingerprint, and where each reply lies."""

    file: Path
    question: str
    places: Mapping[str, tuple[int, int, int]]  # start, length, bytes on the wire

    @classmethod
    def read(cls, file: Path) -> "_Round":
        """`CodecError` for anything that `_pack` did not write."""
        with file.open("rb") as stream:
            told, digest = stream.read(DIGEST), hashlib.sha256()
            while piece := stream.read(PIECE):
                digest.update(piece)
            if digest.digest() != told:
                raise CodecError("the round does not match its SHA-256.")
            stream.seek(DIGEST)
            (n_header,) = LENGTH.unpack(stream.read(LENGTH.size))
            header, place, places = json.loads(stream.read(n_header)), stream.tell(), {}
        for name, length, n_bytes in header["answers"]:
            places[name] = place, length, n_bytes
            place += length
        return cls(file, header["question"], places)

    def answers(self, question: Question) -> Mapping[str, Answer]:
        """One at a time where they are only added up."""
        if question.added:
            return AnswersInTurn(tuple(self.places), self._answer)
        return {name: self._answer(name) for name in self.places}

    def _answer(self, name: str) -> Answer:
        start, length, n_bytes = self.places[name]
        with self.file.open("rb") as stream:
            stream.seek(start)
            reply = decode(stream.read(length))
        assert isinstance(reply, Reply)
        return Answer(reply, n_bytes)

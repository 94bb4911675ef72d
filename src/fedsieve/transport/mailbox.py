"""How the two halves of an edge server speak with each other: by files in the folder of a run.

Towards the server above, a process answers one message and ends; towards the sites below, one process has all of them
and stays. The first leaves a question and waits for its answer. Both stay until the run has its result, so that an edge
server that was started again answers the same question with the same bytes.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.runs import RunFolder, new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import CodecError, ProtocolError
from fedsieve.files import write_atomically
from fedsieve.messages import Reply, Request
from fedsieve.transport.codec import decode, encode

POLL_SECONDS = 0.1
QUESTION, ANSWER, RESULT = ".question", ".answer", "result"
Wait: TypeAlias = Callable[[float], None]
"""Lets so many seconds pass; in one process, whoever answers works meanwhile."""


@dataclass(frozen=True)
class Answered:
    """The reply to a question, and over which sites it is."""

    reply: Reply
    sites: tuple[str, ...]


@dataclass(frozen=True)
class Mailbox:
    """Questions, answers and the result of one run, beside the replies of its rounds."""

    run: RunFolder

    @classmethod
    def of(cls, below: ServerFolder, run: str) -> "Mailbox":
        """That of a run of the federation above; the sites below know it by the same name."""
        known = RunFolder(below.server / "runs" / run)
        if not (known.path / "run.json").is_file():
            known = new_run(below, list(below.agreement().approved), [], name=run)
        return cls(known)

    def ask(self, request: Request, seconds: float, wait: Wait = time.sleep) -> Answered:
        """Leave a question, unless it was asked before, and wait for its answer."""
        number, end = self._posted(encode(request)), time.monotonic() + seconds
        while not self._file(number, ANSWER).is_file():
            if time.monotonic() > end:
                raise ProtocolError(f"an edge server, whose own sites gave no answer within {seconds:g} s.")
            wait(POLL_SECONDS)
        return _opened(self._file(number, ANSWER).read_bytes())

    def questions(self) -> Iterator[tuple[int, Request, bool]]:
        """All questions in their order, with their numbers, and whether each is answered."""
        for file in self._questions():
            request = decode(file.read_bytes())
            if not isinstance(request, Request):
                raise CodecError("a kept question is none. Start a new run.")
            yield int(file.stem), request, file.with_suffix(ANSWER).is_file()

    def unanswered(self) -> list[int]:
        """The numbers of the questions that wait, whatever they say."""
        return [int(file.stem) for file in self._questions() if not file.with_suffix(ANSWER).is_file()]

    def answer(self, number: int, reply: Reply, sites: tuple[str, ...]) -> None:
        """Leave the answer to a question."""
        content = json.dumps({"sites": list(sites)}).encode() + b"\n" + encode(reply)
        self._write(self._file(number, ANSWER), content)

    def pass_on(self, round_: int, payload: bytes) -> None:
        """Leave the result of the run, for all sites that took part."""
        self._write(self.run.replies / RESULT, f"{round_}\n".encode() + payload)

    def result(self) -> tuple[int, bytes] | None:
        """The round and content of the result, once it came."""
        file = self.run.replies / RESULT
        if not file.is_file():
            return None
        round_, _, payload = file.read_bytes().partition(b"\n")
        return int(round_), payload

    @property
    def waits(self) -> bool:
        """Whether something is to be done."""
        return (self.run.replies / RESULT).is_file() or bool(self.unanswered())

    def _questions(self) -> list[Path]:
        return sorted(self.run.replies.glob(f"*{QUESTION}"))

    def _posted(self, content: bytes) -> int:
        asked = self._questions()
        for file in asked:
            if file.read_bytes() == content:
                return int(file.stem)
        self._write(self._file(len(asked) + 1, QUESTION), content)
        return len(asked) + 1

    def _file(self, number: int, kind: str) -> Path:
        return self.run.replies / f"{number:05d}{kind}"

    def _write(self, file: Path, content: bytes) -> None:
        make_private(self.run.replies)
        write_atomically(file, lambda path: path.write_bytes(content), mode=PRIVATE)


def waiting(below: ServerFolder) -> list[Mailbox]:
    """The runs in which something is to be done, oldest first."""
    places = sorted((below.server / "runs").glob("*/rounds"))
    return [box for box in (Mailbox(RunFolder(place.parent)) for place in places) if box.waits]


def _opened(content: bytes) -> Answered:
    head, _, payload = content.partition(b"\n")
    try:
        reply, sites = decode(payload), tuple(json.loads(head)["sites"])
        if isinstance(reply, Reply):
            return Answered(reply, sites)
    except (ValueError, KeyError, TypeError):  # of which one is the codec's
        pass
    raise ProtocolError("an edge server, whose kept answer is damaged. Start a new run.")

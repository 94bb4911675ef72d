"""Rows that sites send after a run, site by site: kept as they come, so that whatever dies, the rest is asked for only.

The server's side of one site is a generator without clock or chance, so the replies that are kept lead it to where it
stopped. A site that refuses, or is lost, holds up nobody, and what it sent so far stays for the next time.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import CodecError
from fedsieve.files import write_atomically
from fedsieve.messages import Reply
from fedsieve.methods.collecting import Collecting, OtherRowsError
from fedsieve.protocol import BadReplyError, Labeled, PlainCohort, Question
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.exchange import Exchange

NOBODY = Labeled(np.zeros((0, 0)), np.zeros((0, 0)))  # the server's own rows, of which none are needed


@dataclass(frozen=True)
class Shelf:
    """The replies of each site, in the order in which they came, one file each, for the server's eyes only."""

    folder: Path

    def replies(self, site: str) -> Iterator[Reply]:
        """What was kept of a site, up to the first file that is missing or damaged; from there on all is removed."""
        place = self.folder / site
        for part in place.glob(".*.part"):  # of a process that was killed
            part.unlink()
        files = sorted(place.glob("*"))
        for number, file in enumerate(files):
            reply = _read(file) if file.name == _name(number) else None
            if reply is None:
                for one in files[number:]:
                    one.unlink()
                return
            yield reply

    def keep(self, site: str, number: int, reply: Reply) -> None:
        """One more."""
        file = make_private(self.folder / site) / _name(number)
        write_atomically(file, lambda path: path.write_bytes(encode(reply)), mode=PRIVATE)

    def forget(self, site: str) -> None:
        """All that was kept of a site."""
        shutil.rmtree(self.folder / site, ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def n_rows(self, site: str) -> int:
        """How many rows of a site are here, up to the first file that is missing or damaged."""
        return sum(reply.n_rows_told for reply in islice(self.replies(site), 1, None))

    def rows(self, site: str) -> Iterator[Float]:
        """The rows of a site that has sent all of them, some at a time."""
        for file in sorted((self.folder / site).glob("*"))[1:]:
            chunk: Any = decode(file.read_bytes())
            yield chunk.values


@dataclass(frozen=True)
class Collected:
    """How many rows of which sites are there now, and why those of others are not."""

    rows: dict[str, int]
    refused: dict[str, str]


def collect(
    method: Collecting, sites: Iterable[str], cohort: tuple[str, ...], exchange: Exchange, shelf: Shelf
) -> Collected:
    """Ask all sites for what they have not sent yet, a chunk of each at a time; `cohort` are all sites of the run."""
    walks = [_Walk(method, site, shelf) for site in sites]
    round_ = 0
    while waiting := [walk for walk in walks if walk.question is not None]:
        round_ += 1
        own = {walk.site: walk.question.request for walk in waiting if walk.question is not None}
        answers = exchange(Question(round_, tuple(own), next(iter(own.values())), cohort, own=own))
        for walk in waiting:
            answer = answers.get(walk.site)
            walk.go_on({} if answer is None else {walk.site: answer.reply})
    return Collected(
        {walk.site: walk.n_rows for walk in walks if walk.n_rows},
        {walk.site: walk.reason for walk in walks if walk.reason},
    )


class _Walk:
    """The way to all rows of one site: the next question, or how it ended."""

    def __init__(self, method: Collecting, site: str, shelf: Shelf) -> None:
        self.site, self._method, self._shelf = site, method, shelf
        self._begin()
        if not all(self._fits(reply) for reply in shelf.replies(site)):  # kept by another version, or changed since
            shelf.forget(site)
            self._begin()

    def go_on(self, replies: dict[str, Reply]) -> None:
        """Take what came; keep it where it was right."""
        self._step(replies)
        if not self.reason:
            self._shelf.keep(self.site, self._n_taken - 1, replies[self.site])

    def _begin(self) -> None:
        cohort = PlainCohort((self.site,), max_rows=self._method.max_rows)
        self._steps = self._method.run(NOBODY, cohort)
        self.question: Question | None = next(self._steps)
        self.n_rows, self.reason, self._n_taken = 0, "", 0

    def _fits(self, reply: Reply) -> bool:
        """Whether what was kept answers the next question; if so, it was taken."""
        if self.question is None:
            return False
        self._step({self.site: reply})
        return not self.reason

    def _step(self, replies: dict[str, Reply]) -> None:
        try:
            self.question = self._steps.send(replies)
        except StopIteration as finished:
            self.question, self.n_rows = None, finished.value.n_rows
        except BadReplyError as bad:
            self.question, self.reason = None, bad.reasons[self.site]
            if isinstance(bad, OtherRowsError):
                self._shelf.forget(self.site)
        self._n_taken += 1


def _name(number: int) -> str:
    return f"{number:06d}"


def _read(file: Path) -> Reply | None:
    try:
        reply = decode(file.read_bytes())
    except (CodecError, OSError):
        return None
    return reply if isinstance(reply, Reply) else None

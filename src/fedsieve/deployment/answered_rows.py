"""The tables that a site has answered for, of one set of columns: all of them, since any two can be subtracted.

Kept as steps from one table to the next, each with the hashes of the rows that came and of those that went, in order:
tables that change little take little room. Tables are compared block by block of the values that hashes may have, so
that beside the hashes of the present rows little is in memory.
"""

import hashlib
import json
import shutil
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fedsieve.arrays import Bool, Int
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError
from fedsieve.files import write_atomically

HASH_BYTES = 16
KIND = f"S{HASH_BYTES}"
Hashes: TypeAlias = "np.ndarray[Any, np.dtype[np.bytes_]]"
"""One of `HASH_BYTES` for each row."""
ENDING = ".rows"
DAMAGED = "Restore it from a backup; without it this site would answer again what it has answered."


BLOCK = 1 << 17  # hashes that are compared at a time, about; of a table of equal rows, all
FIRST_BYTES = 256


class Block(NamedTuple):
    """The rows of a table whose hashes begin with some bytes, in the order of their hashes, equal ones as they come."""

    low: bytes
    high: bytes | None  # None: no end
    places: Int
    hashes: Hashes


def blocks(hashes: Hashes) -> Iterator[Block]:
    """All rows of a table; a block may be empty."""
    n_blocks = min(FIRST_BYTES, max(1, -(-len(hashes) // BLOCK)))
    first = np.ascontiguousarray(hashes.view(np.uint8)[::HASH_BYTES])
    ends = np.linspace(0, FIRST_BYTES, n_blocks + 1).astype(int).tolist()
    for low, high in pairwise(ends):
        places = np.flatnonzero((first >= low) & (first < high)) if n_blocks > 1 else np.arange(len(hashes))
        places = places[np.argsort(hashes[places], kind="stable")]
        yield Block(bytes([low]) if low else b"", bytes([high]) if high < FIRST_BYTES else None, places, hashes[places])


def digest_of(hashes: Hashes) -> str:
    """Of the rows of a table, whatever their order."""
    digest = hashlib.sha256()
    for block in blocks(hashes):
        digest.update(block.hashes.tobytes())
    return digest.hexdigest()


class RowCounts(NamedTuple):
    """How often each hash occurs; below 0 where one table has less of a row than another. 24 bytes per hash."""

    hashes: Hashes  # different ones, in order
    counts: Int

    @classmethod
    def of(cls, *parts: tuple[Hashes, int]) -> "RowCounts":
        """Of the rows of all parts, each of which counts so many times."""
        return cls(hashes_of(b""), np.zeros(0, dtype=np.int64)).plus(*parts)

    def plus(self, *parts: tuple[Hashes, int]) -> "RowCounts":
        """With some rows more, or less."""
        every = np.concatenate([self.hashes, *(hashes for hashes, _ in parts)])
        found, place = np.unique(every, return_inverse=True)
        counts = np.zeros(len(found), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, *(np.full(len(some), times) for some, times in parts)]))
        return RowCounts(found[counts != 0], counts[counts != 0])

    def more(self) -> Hashes:
        """The rows that there are more of, each as often."""
        return np.repeat(self.hashes, np.maximum(self.counts, 0))

    def less(self) -> Hashes:
        """The rows that there are less of."""
        return np.repeat(self.hashes, np.maximum(-self.counts, 0))

    def n_more_and_less(self) -> Int:
        """How many rows there are more of, and how many less."""
        return np.array([np.maximum(self.counts, 0).sum(), np.maximum(-self.counts, 0).sum()])

    def chosen(self, ordered: Hashes) -> Bool:
        """Which rows are among these, each as often as it is, the first ones first."""
        if not len(self.hashes):
            return np.zeros(len(ordered), dtype=bool)
        first = np.searchsorted(ordered, ordered, side="left")  # of equal ones
        place = np.minimum(np.searchsorted(self.hashes, ordered), len(self.hashes) - 1)
        wanted = np.where(self.hashes[place] == ordered, self.counts[place], 0)
        chosen: Bool = np.arange(len(ordered)) - first < wanted
        return chosen


def hashes_of(content: Any) -> Hashes:
    """Hashes that stand one after the other."""
    return np.frombuffer(content, dtype=KIND)


class FilePart(NamedTuple):
    """Hashes in a file, in order: where the first one lies, and how many they are."""

    path: Path
    start: int
    n_hashes: int

    def within(self, block: Block) -> Hashes:
        """Those that belong to a block."""
        with self.path.open("rb") as file:

            def at(place: int) -> bytes:
                file.seek(self.start + HASH_BYTES * place)
                return file.read(HASH_BYTES)

            every = range(self.n_hashes)
            first = bisect_left(every, block.low, key=at)
            last = self.n_hashes if block.high is None else bisect_left(every, block.high, first, key=at)
            file.seek(self.start + HASH_BYTES * first)
            return hashes_of(file.read(HASH_BYTES * (last - first)))


Parts: TypeAlias = Sequence[tuple[Hashes, Hashes]]
"""Of each step the rows that came and those that went, as far as they belong to a block."""


@dataclass(frozen=True)
class AnsweredRows:
    """The file of these tables, the first of which is a step from no rows at all."""

    file: Path

    def numbers(self) -> Iterator[int]:
        """The number of rows of each table."""
        n_rows = 0
        for came, went in self._steps():
            n_rows += came.n_hashes - went.n_hashes
            yield n_rows

    def n_different(self, rows: Hashes) -> list[int]:
        """In how many rows a table differs from each, a row for another counted once; the last one first."""
        found = np.zeros((len(self._steps()), 2), dtype=np.int64)
        if not len(found):
            return []
        for block, parts in self._blocks(rows):
            for place, more in enumerate(_differences(block, parts)):
                found[place] += more.n_more_and_less()
        n_rows: list[int] = found.max(axis=1).tolist()
        return n_rows

    def new_rows(self, rows: Hashes) -> list[Bool]:
        """Which rows of a table each has not, or not so often, the last one first; none where it has all."""
        found: dict[int, Bool] = {}
        for block, parts in self._blocks(rows):
            for place, more in enumerate(_differences(block, parts)):
                chosen = more.chosen(block.hashes)
                if chosen.any():
                    found.setdefault(place, np.zeros(len(rows), dtype=bool))[block.places] = chosen
        return [found[place] for place in sorted(found)]

    def last_rows(self, rows: Hashes) -> tuple[Bool, int]:
        """Which rows of a table the last one has, and how many more it has."""
        found, n_others = np.zeros(len(rows), dtype=bool), 0
        for block, parts in self._blocks(rows):
            last = RowCounts.of(*_signed(parts))
            chosen = last.chosen(block.hashes)
            found[block.places] = chosen
            n_others += int(last.counts.sum() - chosen.sum())
        return found, n_others

    def add(self, rows: Hashes) -> None:
        """One more table, the last from now on."""
        steps = self._steps()

        def change() -> Iterator[RowCounts]:
            return (next(_differences(block, parts)) for block, parts in self._blocks(rows))

        n_came, n_went = sum((more.n_more_and_less() for more in change()), np.zeros(2, dtype=np.int64)).tolist()
        if steps and not n_came and not n_went:
            return
        numbers = [[came.n_hashes, went.n_hashes] for came, went in steps]

        def write(path: Path) -> None:
            with path.open("wb") as file:
                file.write(json.dumps([*numbers, [n_came, n_went]]).encode() + b"\n")
                if steps:
                    with self.file.open("rb") as before:
                        before.seek(steps[0][0].start)
                        shutil.copyfileobj(before, file)
                for more in change():
                    file.write(more.more().tobytes())
                for more in change() if n_went else ():
                    file.write(more.less().tobytes())

        write_atomically(self.file, write, mode=PRIVATE)

    def _blocks(self, rows: Hashes) -> Iterator[tuple[Block, Parts]]:
        """A table block by block, and what each step has there."""
        steps = self._steps()
        for block in blocks(rows):
            yield block, [(came.within(block), went.within(block)) for came, went in steps]

    def _steps(self) -> list[tuple[FilePart, FilePart]]:
        if not self.file.is_file():
            return []
        with self.file.open("rb") as file:
            head, start, end = file.readline(), file.tell(), self.file.stat().st_size
        steps = []
        try:
            for numbers in json.loads(head):
                if len(numbers) != 2 or not all(type(number) is int and number >= 0 for number in numbers):
                    raise damaged(self.file)
                middle = start + HASH_BYTES * numbers[0]
                steps.append((FilePart(self.file, start, numbers[0]), FilePart(self.file, middle, numbers[1])))
                start = middle + HASH_BYTES * numbers[1]
        except (ValueError, TypeError, RecursionError):
            raise damaged(self.file) from None
        if start != end or not steps:
            raise damaged(self.file)
        return steps


def _signed(parts: Parts, times: int = 1) -> Iterator[tuple[Hashes, int]]:
    for came, went in parts:
        yield from ((came, times), (went, -times))


def _differences(block: Block, parts: Parts) -> Iterator[RowCounts]:
    """Which rows a table has more, and (below 0) less than each, the last one first; without any, all of its rows."""
    more = RowCounts.of((block.hashes, 1), *_signed(parts, -1))
    yield more
    for came, went in reversed(parts[1:]):
        more = more.plus((came, 1), (went, -1))
        yield more


def damaged(file: Path) -> DataError:
    """What to say of a part of the ledger that cannot be read."""
    return DataError(f"{file}: is gone, cut or damaged, and no part of a ledger. {DAMAGED}")

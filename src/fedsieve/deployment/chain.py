"""A file of records, each of which holds the hash of the one before: what was written cannot be changed unseen.

A line is JSON with its number `n` and `before`, the SHA-256 of the line before it (of nothing for the first). A second
file, the head, holds the number and the hash of the last line, since a chain alone does not show that its end is
missing. Who can write both files can still rewrite both; against that, note the last hash elsewhere.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from fedsieve.deployment.folders import write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError

BLOCK = 1 << 16  # bytes that are read from the end to find the last line, then twice as many
Entry = dict[str, Any]


def line_hash(line: bytes) -> str:
    """Of a line without its end."""
    return hashlib.sha256(line).hexdigest()


START = line_hash(b"")


@dataclass(frozen=True)
class Verdict:
    """What a chain shows: how many lines are whole, or where and how it is broken; and what is worth knowing."""

    n_whole: int
    last: str  # the hash of the last whole line
    broken: str = ""  # empty where it is not
    notes: list[str] = field(default_factory=list)


class Chain:
    """A chained file and its head. Any number of processes may add to it."""

    def __init__(self, path: Path) -> None:
        self.path, self.head = path, path.with_suffix(".head")

    def add(self, facts: Entry) -> Entry:
        """Append one record; it is on the disk when this returns. What is wrong with the end so far is recorded too."""
        try:
            with self._held() as file:
                size, (last, torn) = file.seek(0, os.SEEK_END), _end(file)
                n, before = (_entry(last)["n"], line_hash(last)) if last is not None else (0, START)
                entry = {"n": n + 1, "before": before, **facts, **self._found(n, before, torn)}
                line = json.dumps(entry, allow_nan=False).encode()
                try:
                    _write(file, (b"" if _ends_a_line(file, size) else b"\n") + line + b"\n")
                except OSError:
                    file.truncate(size)  # what is not recorded must not look as if it were
                    raise
                write_json(self.head, {"n": n + 1, "hash": line_hash(line)}, mode=PRIVATE)
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}. What is not recorded, stays.") from None
        return entry

    def entries(self) -> Iterator[Entry]:
        """All records, oldest first; what is no record is left out (`verify` tells)."""
        with self._still():
            lines = self._lines()
        yield from filter(None, map(_entry, lines))

    def last(self) -> Entry | None:
        """The latest record."""
        with self._still() as file:
            line = _end(file)[0] if file is not None else None
        return None if line is None else _entry(line)

    def verify(self, noted: str = "") -> Verdict:
        """Follow the chain from its first line; `noted` is a last hash that somebody kept elsewhere."""
        with self._still():
            lines, head = self._lines(), self._read_head()
        numbers = [_entry(line).get("n", 0) for line in lines]
        n, before, torn, notes, hashes = 0, START, list[bytes](), list[str](), {START}
        for place, line in enumerate(lines, start=1):
            entry = _entry(line)
            if not entry:
                torn.append(line)
                continue
            if torn and entry.get("torn") != _torn(b"\n".join(torn)):
                return Verdict(n, before, f"line {place - len(torn)} is no record: it was changed.", notes)
            if torn:
                notes.append(f"line {place - len(torn)} was cut off while it was written, as line {place} records.")
                torn = []
            if entry["n"] != n + 1:
                return Verdict(n, before, _misplaced(place, n + 1, entry["n"], numbers), notes)
            if entry["before"] != before:
                wrong = f"line {place - 1} was changed" if n else f"line {place} does not begin the chain"
                return Verdict(n - (n > 0), before, f"{wrong}: line {place} holds another hash.", notes)
            if "missing" in entry:
                return Verdict(n, before, f"before line {place}, lines were removed: {entry['missing']}", notes)
            n, before = n + 1, line_hash(line)
            hashes.add(before)
        if torn:
            wrong = f"line {len(lines) - len(torn) + 1} is torn: its end is missing. The next record will say so."
            return Verdict(n, before, wrong, notes)
        if noted and noted not in hashes:
            return Verdict(n, before, f"the noted hash {noted[:12]} is of no line here: lines were changed.", notes)
        return Verdict(n, before, self._end_is_missing(head, n, before, notes), notes)

    def _end_is_missing(self, head: Entry | None, n: int, last: str, notes: list[str]) -> str:
        """Why the end is not what the head says; empty where it is, with a note where that cannot be told."""
        if head is None:
            if n:
                notes.append(
                    f"{self.head.name} is not there or unreadable: whether lines are missing at the end is open."
                )
            return ""
        if head["n"] > n:
            return f"lines {n + 1} to {head['n']} are missing at the end: {self.head.name} tells of them."
        if head["n"] == n and head["hash"] != last:
            return f"the last line was changed: {self.head.name} holds another hash."
        if head["n"] < n:
            notes.append(f"{self.head.name} is behind by {n - head['n']}: a process was ended in between.")
        return ""

    def _found(self, n: int, before: str, torn: bytes) -> Entry:
        """What a new record tells about the end that it was added to."""
        found: Entry = {"torn": _torn(torn)} if torn else {}
        head = self._read_head()
        if head is not None and head["n"] > n:
            found["missing"] = f"{self.head.name} told of {head['n']} lines, {n} were there."
        elif head is not None and head["n"] == n and head["hash"] != before:
            found["missing"] = f"{self.head.name} held another hash of line {n}."
        return found

    def _read_head(self) -> Entry | None:
        try:
            head = json.loads(self.head.read_bytes())
            return {"n": int(head["n"]), "hash": str(head["hash"])}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _lines(self) -> list[bytes]:
        if not self.path.is_file():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return lines if lines[-1] else lines[:-1]

    @contextmanager
    def _still(self) -> Iterator[BinaryIO | None]:
        """Nobody adds while the block runs, so that no half of a line is seen; the file, if there is one."""
        if not self.path.is_file():
            yield None
            return
        with self.path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield file

    @contextmanager
    def _held(self) -> Iterator[BinaryIO]:
        """The file, opened for this process alone, for its owner's eyes only."""
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if new:
                _reach_the_disk(self.path.parent)
            yield file


def _torn(rest: bytes) -> Entry:
    """By which a record names what it found cut off."""
    return {"bytes": len(rest), "sha256": line_hash(rest)}


def _entry(line: bytes) -> Entry:
    """The record in a line; empty where there is none."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(entry, dict) and type(entry.get("n")) is int and isinstance(entry.get("before"), str)
    return entry if whole else {}


def _end(file: BinaryIO) -> tuple[bytes | None, bytes]:
    """The last line that is a record, and what comes after it: nothing, or the beginning of one that was cut off."""
    size, wanted = file.seek(0, os.SEEK_END), BLOCK
    while True:
        start = file.seek(max(0, size - wanted))
        lines = file.read(size - start).removesuffix(b"\n").split(b"\n")
        first = 1 if start else 0  # it may begin before
        for place in range(len(lines) - 1, first - 1, -1):
            if _entry(lines[place]):
                return lines[place], b"\n".join(lines[place + 1 :])
        if not start:
            return None, b"\n".join(lines)
        wanted *= 2


def _write(file: BinaryIO, data: bytes) -> None:
    """All of it, down to the disk."""
    while data:
        data = data[os.write(file.fileno(), data) :]
    os.fsync(file.fileno())


def _ends_a_line(file: BinaryIO, size: int) -> bool:
    if not size:
        return True
    file.seek(size - 1)
    return file.read(1) == b"\n"


def _misplaced(place: int, expected: int, got: int, numbers: list[int]) -> str:
    if got > expected and expected not in numbers[place:]:
        return f"line {place} has the number {got}, expected {expected}: {got - expected} before it were removed."
    return f"line {place} has the number {got}, expected {expected}: lines were reordered or repeated."


def _reach_the_disk(folder: Path) -> None:
    """So that a new file is still there after a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

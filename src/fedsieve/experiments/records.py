"""Results as JSON lines: appended whole, never twice, and readable after a crash in the middle of a line.

A record is one trial's selection with the metrics of all its evaluations. It grows by further lines of the same key:
what an earlier line says stands, a later one adds to it.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import SEEK_END, BufferedRandom
from pathlib import Path
from typing import Any, BinaryIO

from fedsieve.errors import DataError
from fedsieve.reading import parse_json

Record = dict[str, Any]


class Records:
    """The records in one file, by their trial's key. Several processes may append at once.

    What was read once is not read again: lines are only ever added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def read(self) -> dict[str, Record]:
        """All records, put together from their complete lines; a line that a crash cut short is passed over."""
        if not self.path.exists():
            return {}
        with self.path.open("rb") as file:
            self._read_on(file)
        return dict(self._known)

    def append(self, record: Record) -> bool:
        """Add a line unless the record of this key has all its metrics already; says whether it was added."""
        with self._locked() as file:
            self._read_on(file)
            known = self._known.get(record["key"])
            if known is not None and _metrics(record).keys() <= _metrics(known).keys():
                return False
            file.seek(self._end)  # over a line that was cut short
            file.truncate()
            file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            return True

    @contextmanager
    def _locked(self) -> Iterator[BufferedRandom]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        with self.path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _forget(self) -> None:
        self._known: dict[str, Record] = {}
        self._end = self._n_lines = 0  # of what is known: bytes and lines of the file

    def _read_on(self, file: BinaryIO) -> None:
        """Take in the lines that were added since."""
        if file.seek(0, SEEK_END) < self._end:
            self._forget()  # another file is in its place
        file.seek(self._end)
        for line in file.read().split(b"\n")[:-1]:  # what follows the last newline was cut
            try:
                record = parse_json(line, {"key": str})
            except DataError:
                where = f"{self.path}, line {self._n_lines + 1}"
                raise DataError(f"{where}: is no record. Remove the line or the file.") from None
            known = self._known.get(record["key"])
            self._known[record["key"]] = record if known is None else _united(known, record)
            self._end += len(line) + 1
            self._n_lines += 1


def _metrics(record: Record) -> dict[str, Any]:
    return dict(record.get("metrics", {}))


def _united(earlier: Record, later: Record) -> Record:
    return {**later, **earlier, "metrics": {**_metrics(later), **_metrics(earlier)}}

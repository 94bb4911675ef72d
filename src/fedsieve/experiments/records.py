"""Results as JSON lines: appended whole, never twice, and readable after a crash in the middle of a line.

A record is one trial's selection with the metrics of all its evaluations. It grows by further lines of the same key:
what an earlier line says stands, a later one adds to it.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import Any

from fedsieve.errors import DataError
from fedsieve.reading import parse_json

Record = dict[str, Any]


class Records:
    """The records in one file, by their trial's key. Several processes may append at once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Record]:
        """All records, put together from their complete lines; a line that a crash cut short is passed over."""
        if not self.path.exists():
            return {}
        return self._parse(self.path.read_bytes())

    def append(self, record: Record) -> bool:
        """Add a line unless the record of this key has all its metrics already; says whether it was added."""
        with self._locked() as file:
            content = file.read()
            known = self._parse(content).get(record["key"])
            if known is not None and _metrics(record).keys() <= _metrics(known).keys():
                return False
            file.seek(content.rfind(b"\n") + 1)  # over a line that was cut short
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

    def _parse(self, content: bytes) -> dict[str, Record]:
        records: dict[str, Record] = {}
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):  # what follows the last newline was cut
            try:
                record = parse_json(line, {"key": str})
            except DataError:
                raise DataError(f"{self.path}, line {number}: is no record. Remove the line or the file.") from None
            known = records.get(record["key"])
            records[record["key"]] = record if known is None else _united(known, record)
        return records


def _metrics(record: Record) -> dict[str, Any]:
    return dict(record.get("metrics", {}))


def _united(earlier: Record, later: Record) -> Record:
    return {**later, **earlier, "metrics": {**_metrics(later), **_metrics(earlier)}}

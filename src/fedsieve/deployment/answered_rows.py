"""The tables that a site has answered for, of one set of columns: all of them, since any two can be subtracted.

Kept as steps from one table to the next, each with the hashes of the rows that came and of those that went: tables that
change little take little room.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError
from fedsieve.files import write_atomically

HASH_BYTES = 16
ENDING = ".rows"
DAMAGED = "Restore it from a backup; without it this site would answer again what it has answered."


@dataclass(frozen=True)
class AnsweredRows:
    """The file of these tables, the first of which is a step from no rows at all."""

    file: Path

    def last(self) -> Counter[bytes]:
        """The rows of the last table."""
        rows: Counter[bytes] = Counter()
        for came, went in self._steps():
            rows.update(came)
            rows.subtract(went)
        return +rows

    def numbers(self) -> Iterator[int]:
        """The number of rows of each table."""
        n_rows = 0
        for came, went in self._steps():
            n_rows += len(came) - len(went)
            yield n_rows

    def differences(self, rows: Counter[bytes]) -> Iterator[Counter[bytes]]:
        """Which rows a table has more, and (below 0) less than each, the last one first."""
        if not self.file.is_file():
            return
        more = rows.copy()
        more.subtract(self.last())
        for came, went in reversed(self._steps()):
            yield more.copy()
            more.update(came)
            more.subtract(went)

    def add(self, rows: Counter[bytes]) -> None:
        """One more table, the last from now on."""
        steps = self._steps() if self.file.is_file() else []
        last = self.last() if steps else Counter()
        step = list((rows - last).elements()), list((last - rows).elements())
        if steps and not any(step):
            return
        steps.append(step)
        head = json.dumps([[len(came), len(went)] for came, went in steps]).encode()
        content = head + b"\n" + b"".join(one for step in steps for part in step for one in part)
        write_atomically(self.file, lambda path: path.write_bytes(content), mode=PRIVATE)

    def _steps(self) -> list[tuple[list[bytes], list[bytes]]]:
        head, _, body = self.file.read_bytes().partition(b"\n")
        hashes = [body[start : start + HASH_BYTES] for start in range(0, len(body), HASH_BYTES)]
        steps, start = [], 0
        try:
            for n_came, n_went in json.loads(head):
                middle, end = start + n_came, start + n_came + n_went
                steps.append((hashes[start:middle], hashes[middle:end]))
                start = end
        except (ValueError, TypeError, RecursionError):
            steps, start = [], -1
        if start * HASH_BYTES != len(body):
            raise damaged(self.file)
        return steps


def n_different(more: Counter[bytes]) -> int:
    """In how many rows two tables differ, a row for another counted once."""
    return max(sum((+more).values()), sum((-more).values()))


def damaged(file: Path) -> DataError:
    """What to say of a part of the ledger that cannot be read."""
    return DataError(f"{file}: is gone, cut or damaged, and no part of a ledger. {DAMAGED}")

"""A file that one process holds at a time; the system lets go of it when the process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def only_one(file: Path, otherwise: Exception) -> Iterator[None]:
    """Hold the file while the block runs; raise `otherwise` if another process holds it."""
    with file.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise otherwise from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def holder(file: Path) -> int | None:
    """The pid of the process that holds the file, if one does."""
    if not file.is_file():
        return None
    with file.open("r", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(lock.read() or 0)
    return None

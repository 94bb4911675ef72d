"""Files that are written whole or not at all, read once while they stay the same, or held by one process at a time."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from fedsieve.errors import DataError

Content = TypeVar("Content")
LOOK_SECONDS, RETRY_SECONDS = 0.3, 0.01  # longer than any look at who holds a file; a holder holds it longer
_read: dict[tuple[Path, Any], tuple[tuple[int, ...], Any]] = {}


def read_once(path: Path, read: Callable[[Path], Content]) -> Content:
    """What `read` makes of a file; a process reads it again only after the file changed."""
    try:
        status = path.stat()
    except OSError:
        return read(path)  # which says what is wrong
    state = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
    known = _read.get((path, read))
    if known is None or known[0] != state:
        known = _read[path, read] = state, read(path)
    content: Content = known[1]
    return content


def write_atomically(path: Path, write: Callable[[Path], object], *, mode: int | None = None) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step."""
    write_together({path: write}, mode=mode)


def write_together(writers: Mapping[Path, Callable[[Path], object]], *, mode: int | None = None) -> None:
    """Write several files of one folder: only when all are complete are they put in place, in the order given.

    With a `mode` the files have it from their first byte on.
    """
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in writers}
    path = next(iter(writers))
    if not path.parent.is_dir():
        raise DataError(f"{path}: cannot be written: there is no folder {str(path.parent)!r}.")
    try:
        for path, write in writers.items():
            if mode is not None:
                temporary[path].unlink(missing_ok=True)
                temporary[path].touch(mode=mode, exist_ok=False)
            write(temporary[path])
            _reach_the_disk(temporary[path])
        for path in writers:
            os.replace(temporary[path], path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{path}: cannot be written: {reason}.") from None
    finally:
        for part in temporary.values():
            part.unlink(missing_ok=True)


def _reach_the_disk(path: Path) -> None:
    """So that a power failure after the renaming cannot leave an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def only_one(file: Path, otherwise: Exception) -> Iterator[None]:
    """Hold the file while the block runs; raise `otherwise` if another process holds it."""
    with file.open("a+", encoding="utf-8") as lock:
        if not _taken(lock):
            raise otherwise
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _taken(lock: IO[str]) -> bool:
    """Whether the lock could be had; tried for a moment, as long as somebody may only be looking (`holder`)."""
    end = time.monotonic() + LOOK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
        time.sleep(RETRY_SECONDS)


@contextmanager
def held_file(file: Path) -> Iterator[None]:
    """Hold the file while the block runs; wait while another process holds it."""
    with file.open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
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

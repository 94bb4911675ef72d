"""Files that are written whole or not at all."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from fedsieve.errors import DataError


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

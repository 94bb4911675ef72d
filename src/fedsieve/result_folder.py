"""A folder that a result goes to: found impossible before the work whose result it is, and made for it."""

import os
from pathlib import Path

from fedsieve.errors import DataError


def check_folder(folder: Path) -> None:
    """Stop before any work where no result could be written: a file is in the way, or a right is missing."""
    whole = folder.absolute()
    present = next(place for place in (whole, *whole.parents) if os.path.lexists(place))
    if not os.path.isdir(present):
        kind = "a link to nothing" if present.is_symlink() and not present.exists() else "a file"
        why = f"is {kind}; the result needs a folder" if present == whole else f"cannot be made: {present} is {kind}"
    elif not os.access(present, os.W_OK | os.X_OK):
        why = f"cannot be written: this account may not write in {present}"
    else:
        return
    raise DataError(f"{folder}: {why}. Choose another folder.")


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make it, unless it is there; `mode` is that of a new one."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error.strerror}.") from None

"""What the folders of a federation's parties have in common: names of files, and the rights they are made with."""

import json
from pathlib import Path
from typing import Any

from fedsieve.errors import DataError
from fedsieve.files import write_atomically

AGREEMENT = "federation.toml"
SERVER = "server"  # all of the operator's folder that stays with the server
OWNER_ONLY = 0o700
SIGNATURE = "ca.sig"  # of the operator, over ca.crt
FROM_OPERATOR = (AGREEMENT, "ca.crt", SIGNATURE, "operator.pub")
IDENTITY = ("site.pub", "site.key", "site.json")  # made by the site itself, or by the operator in a trial


def make_private(folder: Path) -> Path:
    """A folder that only its owner may enter."""
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
    try:
        folder.chmod(OWNER_ONLY)
        reason = "its file system knows no such rights" if open_to_others(folder) else ""
    except OSError as error:
        reason = str(error.strerror)
    if reason:
        raise DataError(
            f"{folder}: may be read by others, and cannot be made yours alone: {reason}. "
            "Move it to a disk where 'chmod 700' works, as a folder that you own."
        )
    return folder


def open_to_others(folder: Path) -> bool:
    """Whether anybody but its owner may enter or list it."""
    return bool(folder.stat().st_mode & ~OWNER_ONLY & 0o777)


def write_json(path: Path, content: Any, *, mode: int | None = None) -> None:
    """Write plain values in one step."""
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"), mode=mode)

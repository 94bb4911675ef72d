"""The lease of a joined site: it answers only while the `join` that consented is alive.

`join` holds a lock that the system frees with its process, however that ends, and gives the processes it starts a token
that dies with the prepared rows. Each process that answers asks for both, before it reads a row and before it sends.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.site_folder import INCOMING, SiteFolder
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import holder, only_one, write_atomically

LEASE = "FEDSIEVE_LEASE"  # the environment variable that holds the token
LOCK, TOKEN = "join.lock", "lease"
PATIENCE, POLL_SECONDS = 10, 0.05  # with another process that removes the rows, or still writes beside them


@contextmanager
def joined(site: SiteFolder) -> Iterator[None]:
    """Hold the site's folder, for this process alone."""
    with only_one(site.path / LOCK, DataError(f"{site.path}: has joined already, by another process.")):
        yield


def clear_rows(site: SiteFolder) -> None:
    """Remove what an earlier `join` left, whose machine went down: none of it is about the rows of this one.

    For whoever holds the folder.
    """
    try:
        if site.prepared.exists() or site.prepared.is_symlink():
            shutil.rmtree(site.prepared)
        _forget_incoming(site)
    except OSError as error:
        raise DataError(
            f"{site.prepared}: was left by an earlier 'join', and cannot be removed: {error.strerror or error}. "
            "Remove it by hand."
        ) from None


def new_lease(site: SiteFolder) -> str:
    """The token for the processes of this `join`; those of an earlier one have another."""
    token = secrets.token_hex(16)
    make_private(site.prepared)
    write_atomically(site.prepared / TOKEN, lambda file: file.write_text(token, encoding="utf-8"), mode=PRIVATE)
    return token


def check_lease(site: SiteFolder, token: str | None) -> None:
    """Raise, and see to it that no rows stay, if the `join` that gave out the token is gone."""
    if holder(site.path / LOCK) is None:
        forget_rows(site)
        raise ProtocolError("has left: the 'join' that consented is gone.")
    file = site.prepared / TOKEN
    if not token or not file.is_file() or file.read_text(encoding="utf-8") != token:
        raise ProtocolError("has left: this process belongs to a 'join' that is gone.")


def forget_rows(site: SiteFolder) -> None:
    """Remove the prepared rows, unless a `join` is alive, to whom they belong.

    All processes of a `join` that is gone do this, and one may end in the middle of it: the others wait for it. What
    was written while it was removed is removed again.
    """
    taken, end = DataError("has joined"), time.monotonic() + PATIENCE
    while True:
        try:
            with only_one(site.path / LOCK, taken):
                shutil.rmtree(site.prepared, ignore_errors=True)
                _forget_incoming(site)
        except DataError as error:
            if error is not taken:
                raise
        if not site.prepared.exists() or time.monotonic() > end:
            return
        time.sleep(POLL_SECONDS)


def _forget_incoming(site: SiteFolder) -> None:
    """Remove rows of large files that processes stored here which are gone; one that lives may still be writing."""
    for folder in site.path.glob(f"{INCOMING}*"):
        if not _is_alive(folder.name.removeprefix(INCOMING)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # of another account
        return True
    except (OSError, ValueError):
        return False
    return True

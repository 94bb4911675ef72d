"""A listener seen from outside: whether its TLS holds, and what its clock says.

The engine refuses a site whose clock differs from the server's, and calls that a failed authentication.
"""

import socket
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

NOTICEABLE = 4  # seconds; the engine refuses a site that is 5 ahead, and the header counts whole seconds
TIMEOUT = 5


@dataclass(frozen=True)
class Clocks:
    """The time here and at the server, in the same moment; seconds since 1970."""

    here: float
    there: float

    @property
    def differ(self) -> bool:
        """Whether by more than the way of the answer explains."""
        return abs(self.here - self.there) > NOTICEABLE

    def __str__(self) -> str:
        ahead = "ahead of" if self.here > self.there else "behind"
        shown = (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment)) for moment in (self.here, self.there))
        here, there = shown
        return f"{abs(self.here - self.there):.0f} s {ahead} the server's (here {here}, there {there} UTC)"


def greet_tls(host: str, port: int, authority: Path) -> None:
    """Open a connection and close it; `ssl.SSLError` or another `OSError` says why it cannot be had."""
    context = ssl.create_default_context(cafile=str(authority))
    with (
        socket.create_connection((host, port), timeout=TIMEOUT) as plain,
        context.wrap_socket(plain, server_hostname=host),
    ):
        return


def compare_clocks(host: str, port: int, authority: Path) -> Clocks | None:
    """Both clocks by the date that the server puts on every answer; `None` where it tells none."""
    context = ssl.create_default_context(cafile=str(authority))
    connection = HTTPSConnection(host, port, timeout=TIMEOUT, context=context)
    try:
        before = time.time()
        connection.request("HEAD", "/")
        told = connection.getresponse().getheader("Date")
        here = (before + time.time()) / 2
        return Clocks(here, parsedate_to_datetime(told).timestamp() + 0.5) if told else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()

"""Connections are few, and each has to ask for one thing, soon: all accounts of this machine can open them."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 64
FIRST_SECONDS = 5.0  # from a connection to its request, after whose answer it ends (`gate.HEADERS`)


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, within these bounds."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or end it at once where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(FIRST_SECONDS, self._end_if_silent)

    def _end_if_silent(self) -> None:
        asked: object = self.cycle  # which uvicorn declares to be there always
        if asked is None and not self.transport.is_closing():
            self.transport.abort()

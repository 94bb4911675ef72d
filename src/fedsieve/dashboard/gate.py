"""Who may look: only who knows the token, through a name of this machine, and only to read.

All accounts of a machine reach its loopback, and so does every web page that its browsers show. So everything but
`/healthz` needs the token, as the first part of the address or as `Authorization: Bearer`; a name that is not of
loopback is refused (a page elsewhere whose name was made to lead here: DNS rebinding). There are no cookies, which
browsers would send to every other port of this machine, and no permission for other origins (CORS).
"""

import hmac
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
HEALTH, METRICS = "/healthz", "/metrics"
READING = ("GET", "HEAD")
HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",  # one request each, as `patience` bounds the first alone
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
NOT_HERE = "This name does not lead here. Use the address that the command printed, with 127.0.0.1 or localhost.\n"
NO_TOKEN = "Use the whole address, with its token, that the command printed or wrote to dashboard.url.\n"


class Gate:
    """Stands before the routes; what passes has the token taken off its path."""

    def __init__(self, app: ASGIApp, token: str, *, open_metrics: bool = False) -> None:
        self._app, self._token, self._open_metrics = app, token.encode(), open_metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or say what it lacks."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        answer = self._at_the_gate(scope, headers)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        await self._app(self._without_token(scope), receive, guarded)

    def _at_the_gate(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Response | None:
        if not _is_own(headers.get(b"host", [])):
            return PlainTextResponse(NOT_HERE, 421)
        if scope["method"] not in READING:
            return PlainTextResponse("Nothing can be changed here.\n", 405, {"Allow": ", ".join(READING)})
        if self._knows(scope["path"][1:]):  # links of the page begin behind the last slash
            return RedirectResponse(f"{scope['path']}/")
        free = scope["path"] == HEALTH or (scope["path"] == METRICS and self._open_metrics)
        if free or self._knows(_first(scope["path"])) or self._bears(headers.get(b"authorization", [])):
            return None
        return PlainTextResponse(NO_TOKEN, 403)

    def _bears(self, values: list[bytes]) -> bool:
        kind, _, token = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        return kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)

    def _knows(self, part: str) -> bool:
        """Whether a part of a path is the token; takes as long for one that nearly is."""
        return hmac.compare_digest(part.encode("utf-8", "surrogateescape"), self._token)

    def _without_token(self, scope: Scope) -> dict[str, Any]:
        if not self._knows(_first(scope["path"])):
            return dict(scope)
        rest = scope["path"][1 + len(self._token) :]
        return {**scope, "path": rest, "raw_path": rest.encode("utf-8", "surrogateescape")}


def _first(path: str) -> str:
    return path[1:].partition("/")[0]


def _is_own(hosts: list[bytes]) -> bool:
    """Whether the one name that a request says it is for is of this machine; any port, as tunnels have others."""
    if len(hosts) != 1:
        return False
    name, colon, port = hosts[0].decode("latin-1").lower().rpartition(":")
    if not colon or port.endswith("]"):
        name, port = f"{name}{colon}{port}", "80"
    return name in OWN_NAMES and port.isdecimal()

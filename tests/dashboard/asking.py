"""Requests to an application in this process, made of exactly the bytes that a test wants to send."""

import asyncio
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

TOKEN = "t0ken-" + "x" * 37
OWN_HOST = ("host", "127.0.0.1:9999")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Visitor:
    """Asks an application; `host` and the token are added unless a test says otherwise."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def get(self, path: str, *headers: tuple[str, str], method: str = "GET", token: bool = True) -> Answer:
        """The whole answer to one request; `path` as it stands in a request, still escaped."""
        sent: list[dict[str, Any]] = []
        given = headers if any(name == "host" for name, _ in headers) else (OWN_HOST, *headers)
        whole = f"/{TOKEN}{path}" if token else path
        scope = {
            "type": "http",
            "method": method,
            "query_string": b"",
            "http_version": "1.1",
            "scheme": "http",
            "path": unquote(whole, errors="surrogateescape"),
            "raw_path": whole.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given if name != "no"],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        headers_sent = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], headers_sent, b"".join(message.get("body", b"") for message in sent[1:]))

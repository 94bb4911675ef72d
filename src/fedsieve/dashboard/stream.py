"""The state as server-sent events: sent when it changes, to few at a time, and to nobody who does not take it.

There is no queue. Who is slow gets the state of the moment at which the last one was taken, and is left after a while.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from fedsieve.dashboard.latest import LOOK_SECONDS, Latest, as_text

MOST_STREAMS = 16
SEND_SECONDS = 20.0  # for one to take what was sent
SIGN_SECONDS = 10.0  # without a change, a sign that somebody is there
LIFE_SECONDS = 600.0  # then a browser asks anew, by itself
RETRY = "retry: 2000\n\n"


class Streams:
    """All streams of one view."""

    def __init__(self, latest: Latest, most: int = MOST_STREAMS) -> None:
        self.latest, self.most, self.n_open = latest, most, 0

    async def open(self, request: Request) -> Response:
        """A new stream, if there are not too many."""
        if self.n_open >= self.most:
            message = f"{self.most} windows show this view already; close one.\n"
            return PlainTextResponse(message, 503, {"Retry-After": "10"})
        return EventStream(self, request)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """One more while the block runs."""
        self.n_open += 1
        try:
            yield
        finally:
            self.n_open -= 1


class EventStream(Response):
    """One browser's stream."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, request: Request) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._streams, self._request = streams, request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send until the other end is gone, takes nothing, or has had its time."""
        with self._streams.counted():
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                if self._request.method == "GET":
                    await self._feed(send)
            except TimeoutError:
                return
            await self._say(send, "", more=False)

    async def _feed(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        start, sent, shown = loop.time(), loop.time(), -1
        await self._say(send, RETRY)
        while loop.time() - start < LIFE_SECONDS and not await self._request.is_disconnected():
            state, version = await run_in_threadpool(self._streams.latest.versioned)
            if version != shown or loop.time() - sent >= SIGN_SECONDS:
                await self._say(send, f"data: {as_text(state)}\n\n")
                sent, shown = loop.time(), version
            await asyncio.sleep(LOOK_SECONDS)

    async def _say(self, send: Send, text: str, *, more: bool = True) -> None:
        message = {"type": "http.response.body", "body": text.encode("utf-8", "replace"), "more_body": more}
        await asyncio.wait_for(send(message), SEND_SECONDS)

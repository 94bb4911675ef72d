"""The addresses of a live view: the page, its stream, its state, reports of runs, metrics and health."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from fedsieve.dashboard.gate import HEALTH, METRICS, Gate
from fedsieve.dashboard.latest import Latest, State, as_text
from fedsieve.dashboard.metrics import MEDIA_TYPE, as_metrics
from fedsieve.dashboard.page import LivePage
from fedsieve.dashboard.stream import Streams
from fedsieve.errors import FedSieveError

# A report has a policy of its own; here it is also kept from this view's address, whatever is in it.
OF_REPORT = "sandbox allow-scripts allow-modals; frame-ancestors 'none'"


@dataclass(frozen=True)
class ViewSource:
    """What is looked at: the state, the page of a run's report by its id (`None` where there is none), and health."""

    kind: str
    look: Callable[[], State]
    report: Callable[[str], str | None]
    why_unwell: Callable[[], str]


def make_app(view: ViewSource, token: str, *, open_metrics: bool = False) -> ASGIApp:
    """The application, behind its gate."""
    latest, page = Latest(view.look), LivePage.of(view.kind)
    streams = Streams(latest)

    def home(_request: Request) -> Response:
        return HTMLResponse(page.text, headers={"Content-Security-Policy": page.policy})

    def state(_request: Request) -> Response:
        return Response(as_text(latest.state()), media_type="application/json")

    def metrics(_request: Request) -> Response:
        return Response(as_metrics(latest.state()), headers={"Content-Type": MEDIA_TYPE})

    def health(_request: Request) -> Response:
        reason = view.why_unwell()
        return PlainTextResponse(f"{reason}\n" if reason else "ok\n", 503 if reason else 200)

    async def report(request: Request) -> Response:
        try:
            text = await run_in_threadpool(view.report, request.path_params["run"])
        except FedSieveError as error:
            return PlainTextResponse(f"{error}\n", 422)
        if text is None:
            raise HTTPException(404, "There is no report of such a run.\n")
        return HTMLResponse(text, headers={"Content-Security-Policy": OF_REPORT})

    routes = [
        Route("/", home),
        Route("/events", streams.open),
        Route("/state.json", state),
        Route("/runs/{run}/report", report),
        Route(METRICS, metrics),
        Route(HEALTH, health),
    ]
    return Gate(Starlette(routes=routes), token, open_metrics=open_metrics)

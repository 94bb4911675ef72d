"""An edge server as a node of the server above: answers for its own sites, whom it reaches by a grid of its own."""

from flwr.app import Message
from flwr.serverapp import Grid

from fedsieve.deployment.folders import ServerFolder, SiteFolder
from fedsieve.deployment.logs import open_log
from fedsieve.messages import Reply, Request
from fedsieve.protocol import EdgeServer
from fedsieve.transport.flower.client_app import carried
from fedsieve.transport.flower.contents import HELLO, RESULT, STEP
from fedsieve.transport.flower.grid_exchange import ServerLink, introduce, link_for
from fedsieve.transport.site import JoinedSite


class EdgeNode:
    """A site to the server above (`site`: name and key there), a server to the sites of `folder` behind `grid`."""

    def __init__(self, site: SiteFolder, folder: ServerFolder, grid: Grid) -> None:
        self._name, self._folder, self._grid = site.name, folder, grid
        self._above = JoinedSite(site, self._total, self._pass_on)
        self._runs: dict[str, tuple[ServerLink, EdgeServer]] = {}

    def __call__(self, message: Message) -> Message:
        """Answer one message from above."""
        answers = {STEP: self._above.answer, RESULT: self._above.take_result, HELLO: self._above.greet}
        return carried(message, answers[message.metadata.message_type])

    def _total(self, request: Request, run: str) -> Reply:
        """The sum over its own sites."""
        link, edge = self._run(run)
        steps = edge.answer(request)
        try:
            question = next(steps)
            while True:
                question = steps.send({name: answer.reply for name, answer in link.ask(question).items()})
        except StopIteration as finished:
            reply: Reply = finished.value
            return reply

    def _pass_on(self, run: str, round_: int, payload: bytes) -> None:
        """Its own sites get the result too."""
        link, _ = self._run(run)
        link.send(RESULT, round_, link.nodes, payload)

    def _run(self, run: str) -> tuple[ServerLink, EdgeServer]:
        """What belongs to one run; its sites are known from its first request on."""
        if run not in self._runs:
            agreement = self._folder.agreement()
            log, sites = open_log(self._folder.server, run, self._name), agreement.approved
            link = link_for(
                self._grid, self._folder, run, sites, lambda event, **details: log.info("%s %s", event, details)
            )
            link.nodes = link.nodes or introduce(link)
            self._runs[run] = link, EdgeServer(agreement.method, sites)
        return self._runs[run]

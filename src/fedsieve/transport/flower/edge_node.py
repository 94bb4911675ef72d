"""An edge server as a node of the server above: answers for its own sites, whom it reaches by a grid of its own."""

from flwr.app import Message
from flwr.serverapp import Grid

from fedsieve.deployment.folders import ServerFolder, SiteFolder
from fedsieve.deployment.logs import open_log
from fedsieve.protocol import EdgeServer
from fedsieve.protocol import messages as m
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import Envelope
from fedsieve.transport.flower.client_app import reply_from, take_result
from fedsieve.transport.flower.grid_exchange import Post, introduce, post_for
from fedsieve.transport.flower.parcels import RESULT, STEP


class EdgeNode:
    """A site to the server above (`site`: name and key there), a server to the sites of `folder` behind `grid`."""

    def __init__(self, site: SiteFolder, folder: ServerFolder, grid: Grid) -> None:
        self._site, self._folder, self._grid = site, folder, grid
        self._runs: dict[str, tuple[Post, EdgeServer]] = {}

    def __call__(self, message: Message) -> Message:
        """Answer one message from above."""
        acts = {STEP: self._step, RESULT: self._pass_on}
        return reply_from(self._site, message, acts.get(message.metadata.message_type, lambda _site, _envelope: b""))

    def _step(self, _site: SiteFolder, envelope: Envelope) -> bytes:
        request = decode(envelope.payload)
        assert isinstance(request, m.Request)
        post, edge = self._run(envelope.run)
        talk = edge.answer(request)
        try:
            ask = next(talk)
            while True:
                ask = talk.send({name: answer.reply for name, answer in post.ask(ask).items()})
        except StopIteration as finished:
            return encode(finished.value)

    def _pass_on(self, site: SiteFolder, envelope: Envelope) -> bytes:
        post, _ = self._run(envelope.run)
        post.send(RESULT, envelope.round, post.nodes, envelope.payload)
        return take_result(site, envelope)

    def _run(self, run: str) -> tuple[Post, EdgeServer]:
        """What belongs to one run; its sites are known from its first request on."""
        if run not in self._runs:
            agreement = self._folder.agreement()
            log = open_log(self._folder.server, run, self._site.name)
            post = post_for(self._grid, self._folder, run, lambda event, **details: log.info("%s %s", event, details))
            post.nodes = post.nodes or introduce(post)
            self._runs[run] = post, EdgeServer(agreement.plan, agreement.sites)
        return self._runs[run]

"""A small federation on disk whose nodes live in this process, and nodes that lose, break or forge messages."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flwr.app import Error, Message

from fedsieve.arrays import Float
from fedsieve.deployment import keys
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.runs import RunFolder, new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.protocol import SERVER, Labeled, Method
from fedsieve.protocol.influence import KeptReplies, influence, stretch
from fedsieve.selection_file import selection_record
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.envelope import Envelope, seal, unseal
from fedsieve.transport.flower.client_app import app as client_app
from fedsieve.transport.flower.contents import STEP, unwrap, wrap
from fedsieve.transport.flower.grid_exchange import ServerLink, link_for
from fedsieve.transport.flower.local_grid import LocalGrid, Node, site_node
from fedsieve.transport.flower.server_app import lead_run
from policies import take_part, write_rules
from strategies import Federation

LABELS = ["y0", "y1", "y2", "y3"]
ADDRESS = "127.0.0.1:9443"


@dataclass
class Consortium:
    """The operator's folder, and a node per site; tests put other nodes in their place."""

    case: Federation
    folder: ServerFolder
    nodes: dict[str, Node] = field(default_factory=dict)
    labels: dict[str, Float] = field(default_factory=dict)  # per site, where sites hold labels

    @property
    def plan(self) -> Method:
        return self.folder.agreement().method

    def site(self, name: str) -> ArrayTable:
        """A site as an object of this process."""
        labels = (tuple(LABELS), self.labels[name]) if self.labels else ()
        return ArrayTable(self.case.features, self.case.clients[name], *labels)

    def agree(self, method: str = "SSFMLFS", **sections: Any) -> None:
        """Write the same agreement for all, lenient rules for each site, and everybody's rows."""
        sections = {"ranges": "federated", "privacy": {"min_rows": 10}, **sections}
        columns, members = (list(self.case.features), LABELS), self.folder.agreement().members
        text = agreement_text(
            "fed", ADDRESS, list(self.case.clients), *columns, method=method, keys=members, **sections
        )
        for path in (self.folder.path, *(self.folder.site(name).path for name in self.case.clients)):
            (path / AGREEMENT).write_text(text, encoding="utf-8")
        self.folder.write_labeled(self.case.X, self.case.Y.astype(float))
        for number, (name, X) in enumerate(self.case.clients.items(), 1):
            write_rules(self.folder.site(name).path)
            self.folder.site(name).write_rows(self.case.features, X, self.labels.get(name))
            take_part(self.folder.site(name))
            self.nodes[name] = site_node(client_app, self.folder.site(name).path, number)

    def key(self, site: str) -> keys.PrivateKey:
        return keys.read_private_key(self.folder.site(site).path / "site.key")

    def grid(self, kind: type[LocalGrid] = LocalGrid) -> LocalGrid:
        return kind(dict(enumerate(self.nodes.values(), 1)))

    def lead(self, run: RunFolder | None = None, grid: LocalGrid | None = None) -> RunFolder:
        """A run with all sites, to its end."""
        run = run or self.start()
        lead_run(grid or self.grid(), self.folder, run)
        return run

    def start(self) -> RunFolder:
        return new_run(self.folder, list(self.case.clients), [])

    def expected(self, without: tuple[str, ...] = ()) -> dict[str, Any]:
        """The record of the same selection in one process, as read from a file."""
        sites = {name: self.site(name) for name in self.case.clients if name not in without}
        labeled, kept = Labeled(self.case.X, self.case.Y.astype(float)), KeptReplies()
        outcome = in_process.select(self.plan, labeled, sites, kept=kept)
        moved = influence(self.plan, labeled, outcome.selection, kept)
        whole = {**selection_record(self.plan, outcome, LABELS), "influence": moved, "stretch": stretch(kept)}
        return json.loads(json.dumps(whole))

    def post(self, run: str, tell: Callable[..., None] = lambda *_, **__: None) -> ServerLink:
        """The server's side without a server: for requests that no honest server makes."""
        post = link_for(self.grid(), self.folder, run, tuple(self.case.clients), tell)
        post.nodes = {name: number for number, name in enumerate(self.nodes, 1)}
        return post

    def logs(self) -> str:
        """All that was logged anywhere."""
        files = [*self.folder.path.rglob("*.log"), *self.folder.path.rglob("*.jsonl")]
        return "\n".join(file.read_text(encoding="utf-8") for file in files)


def refusals(run: RunFolder) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["event"] == "refused"]


def request_of(message: Message, consortium: Consortium) -> Envelope:
    operator = keys.read_public_key(consortium.folder.server / "operator.pub")
    return unseal(unwrap(message), {SERVER: operator})


def sabotage(
    consortium: Consortium,
    site: str,
    kind: str,
    act: Callable[[Message, Node], Any],
    nth: int = 1,
    kind_of: str = STEP,
) -> None:
    """From the n-th request of a kind on, let `act` answer for the site; `kind_of` messages are looked at."""
    honest, seen = consortium.nodes[site], []

    def node(message: Message) -> Message | None:
        asked = message.metadata.message_type == kind_of and type(decode(request_of(message, consortium).payload))
        if asked and asked.__name__ == kind:
            seen.append(message)
            if len(seen) >= nth:
                return act(message, honest)
        return honest(message)

    consortium.nodes[site] = node


def forge(
    consortium: Consortium,
    site: str,
    kind: str,
    change: Callable[[Envelope], Envelope],
    key: keys.PrivateKey | None = None,
    kind_of: str = STEP,
) -> None:
    """Let a site change its honest reply to a kind of request, and sign it again."""

    def act(message: Message, honest: Node) -> Message:
        genuine = unseal(unwrap(honest(message)), {site: consortium.key(site).public_key()})
        return Message(wrap(seal(change(genuine), key or consortium.key(site))), reply_to=message)

    sabotage(consortium, site, kind, act, kind_of=kind_of)


def lie(consortium: Consortium, site: str, kind: str, change: Callable[[bytes], bytes], kind_of: str = STEP) -> None:
    """Let a site change what its reply to a kind of request says."""

    def changed_payload(genuine: Envelope) -> Envelope:
        return dataclasses.replace(genuine, payload=change(genuine.payload))

    forge(consortium, site, kind, changed_payload, kind_of=kind_of)


def raises(_message: Message, _honest: Node) -> Message:
    raise RuntimeError("the process is gone")


def is_silent(_message: Message, _honest: Node) -> None:
    return None


def engine_error(code: int) -> Callable[[Message, Node], Message]:
    return lambda message, _honest: Message(Error(code, "told by the engine"), reply_to=message)


def content(records: Any) -> Callable[[Message, Node], Message]:
    return lambda message, _honest: Message(records, reply_to=message)


def changed(**fields: Any) -> Callable[[bytes], bytes]:
    """A change of fields of a reply, encoded anew with the right checksum."""

    def change(payload: bytes) -> bytes:
        reply = decode(payload)
        return encode(dataclasses.replace(reply, **{name: value(reply) for name, value in fields.items()}))

    return change

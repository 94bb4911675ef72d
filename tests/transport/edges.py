"""Federations of two levels on grids in this process, with the real apps, keys, envelopes and mailboxes."""

from dataclasses import dataclass, field

from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.edge_agreement import edge_agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.runs import RunFolder, new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.privacy import Policy
from fedsieve.transport.edge_site import edge_site
from fedsieve.transport.flower import client_app, server_app
from fedsieve.transport.flower.client_app import carried
from fedsieve.transport.flower.contents import HELLO, RESULT, STEP
from fedsieve.transport.flower.edge_node import EdgeNode
from fedsieve.transport.flower.local_grid import LocalGrid, Node, site_node
from policies import LENIENT, take_part, write_rules
from strategies import Federation

ADDRESS = "127.0.0.1:9443"


def as_node(site, below, grid) -> Node:
    """An edge server as a node of the grid above: its two halves, one after the other, in this process."""
    node = EdgeNode(grid, below)
    above = edge_site(site, below, lambda _seconds: node.look())
    answers = {STEP: above.answer, RESULT: above.take_result, HELLO: above.greet}

    def answer(message):
        reply = carried(message, answers[message.metadata.message_type])
        node.look()  # which passes a result on
        return reply

    return answer


@dataclass
class TwoLevels:
    """The folder of the server above, those of its edge servers, and the nodes of both levels."""

    case: Federation
    top: ServerFolder
    below: dict[str, ServerFolder] = field(default_factory=dict)
    grids: dict[str, LocalGrid] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)

    def start(self, edge: str, grid: LocalGrid | None = None) -> None:
        """Start an edge server, or start it again: nothing of the one before is left but its folders."""
        self.nodes[edge] = as_node(self.top.site(edge), self.below[edge], grid or self.grids[edge])

    def start_run(self) -> RunFolder:
        return new_run(self.top, sorted(self.nodes), [])

    def run(self, run: RunFolder | None = None) -> RunFolder:
        """A run of the server above, to its end."""
        run = run or self.start_run()
        server_app.lead_run(LocalGrid(dict(enumerate(self.nodes.values(), 100))), self.top, run)
        return run


def two_levels(tmp_path, case, n_edges=2, *, policy: Policy | None = LENIENT, own=None, **sections) -> TwoLevels:
    """Sites dealt out to edge servers in turn; `own` are rules of the lower level. Without a policy, the defaults."""
    names = sorted(case.clients)
    groups = {f"edge-{number}": names[number::n_edges] for number in range(n_edges)}
    most = max(map(len, groups.values()))
    sections = {"method": "SSFMLFS", "ranges": "federated", "privacy": {"min_rows": 2}, **sections}
    sections["rounds"] = {"max_sites_per_client": most, **sections.get("rounds", {})}
    labels = [f"label {number}" for number in range(case.Y.shape[1])]
    text = agreement_text("top", ADDRESS, groups, list(case.features), labels, **sections)
    made = TwoLevels(case, create(tmp_path / "top", text, list(groups), ADDRESS))
    made.top.write_labeled(case.X, case.Y.astype(float))
    for edge, sites in groups.items():
        above = made.top.site(edge)
        text = edge_agreement_text(above, f"{edge}-sites", ADDRESS, sites, {"min_rows": 2, **(own or {})})
        below = made.below[edge] = create(tmp_path / edge, text, sites, ADDRESS)
        if policy is not None:
            write_rules(above.path, policy)
        for site in sites:
            if policy is not None:
                write_rules(below.site(site).path, policy)
            below.site(site).write_rows(case.features, case.clients[site])
            take_part(below.site(site))
        made.grids[edge] = LocalGrid(
            {i: site_node(client_app.app, below.site(site).path, i) for i, site in enumerate(sites, 1)}
        )
        made.start(edge)
    return made

"""A level of edge servers, with the real apps, keys and envelopes on grids in this process."""

import json

from numpy.testing import assert_allclose

from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.runs import new_run
from fedsieve.methods import SSFMLFSMethod
from fedsieve.transport import in_process
from fedsieve.transport.flower import client_app, server_app
from fedsieve.transport.flower.edge_node import EdgeNode
from fedsieve.transport.flower.local_grid import LocalGrid, site_node
from policies import take_part, write_rules
from protocol.federation import example, labeled, sites

ADDRESS = "127.0.0.1:9443"


def federation(place, case, names, min_rows):
    text = agreement_text(
        "fed",
        ADDRESS,
        names,
        list(case.features),
        [f"label {number}" for number in range(case.Y.shape[1])],
        method="SSFMLFS",
        ranges="federated",
        rounds={"max_sites_per_client": 3},
        privacy={"min_rows": min_rows},
    )
    folder = create(place, text, names, ADDRESS)
    for name in names:
        write_rules(folder.site(name).path)
    return folder


def consortium(tmp_path, case, n_edges=2):
    """The server above, and its edge servers as nodes, each with its own sites behind it."""
    names = sorted(case.clients)
    edges = {f"edge-{number}": names[number::n_edges] for number in range(n_edges)}
    top = federation(tmp_path / "top", case, sorted(edges), 2)
    rows = labeled(case)
    top.write_labeled(rows.X, rows.Y)
    nodes, below = {}, {}
    for number, (edge, own) in enumerate(edges.items()):
        below[edge] = federation(tmp_path / edge, case, own, 2)
        for site in own:
            below[edge].site(site).write_rows(case.features, case.clients[site])
            take_part(below[edge].site(site))
        grid = LocalGrid({i: site_node(client_app.app, below[edge].site(s).path, i) for i, s in enumerate(own, 1)})
        nodes[100 + number] = EdgeNode(top.site(edge), below[edge], grid)
    return top, nodes, below


def test_two_edge_servers_with_three_sites_each_give_the_order_of_six_sites_on_one_server(tmp_path):
    case = example(n_clients=6)
    top, nodes, below = consortium(tmp_path, case)
    run = new_run(top, ["edge-0", "edge-1"], [])
    server_app.lead_run(LocalGrid(nodes), top, run)
    assert run.failure() is None
    record = run.result()
    flat = in_process.select(SSFMLFSMethod(case.features), labeled(case), sites(case)).selection
    assert record["order"] == [case.features[i] for i in flat.order]
    assert_allclose(list(record["scores"].values()), flat.scores, rtol=1e-12)
    assert set(record["n_rows"]) == {"edge-0", "edge-1"}
    assert sum(record["n_rows"].values()) == sum(len(X) for X in case.clients.values())
    # The result reaches every site through its edge server.
    for edge, folder in below.items():
        for place in (top.site(edge), *(folder.site(name) for name in folder.agreement().sites)):
            text = (place.results / run.id / "selection.json").read_text()
            assert json.loads(text)["order"] == record["order"]


def test_a_lost_site_costs_its_edge_server_and_is_named(tmp_path):
    case = example(n_clients=6)
    top, nodes, below = consortium(tmp_path, case, n_edges=3)
    (below["edge-1"].site("site-4").prepared / "rows.npy").unlink()
    run = new_run(top, ["edge-0", "edge-1", "edge-2"], [])
    server_app.lead_run(LocalGrid(nodes), top, run)
    record = run.result()
    assert "an edge server, of which failed site 'site-4'" in record["dropped"]["edge-1"]
    survivors = {name: site for name, site in sites(case).items() if name not in ("site-1", "site-4")}
    flat = in_process.select(SSFMLFSMethod(case.features), labeled(case), survivors).selection
    assert record["order"] == [case.features[i] for i in flat.order]

"""Short ways to run a federation in a test."""

import numpy as np

from fedsieve.protocol import Client, EdgeServer, Labeled, Selection, Site, SSFMLFSPlan, federated_selection
from fedsieve.protocol import messages as m
from fedsieve.transport import in_process
from strategies import Federation

WIRES = ("matrices", "statistics", "vectors")


def labeled(case: Federation) -> Labeled:
    return Labeled(case.X, case.Y.astype(float))


def sites(case: Federation) -> dict[str, Site]:
    return {name: Site(case.features, X) for name, X in case.clients.items()}


def select(case: Federation, **parameters) -> Selection:
    return in_process.select(SSFMLFSPlan(case.features, **parameters), labeled(case), sites(case)).selection


def drive(plan: SSFMLFSPlan, rows: Labeled, clients: dict[str, Site], tamper=None):
    """A second runtime, ten lines: like `in_process`, but a test may change or swallow (None) any reply."""
    answering = {name: Client(site) for name, site in clients.items()}
    talk = federated_selection(plan, rows, clients)
    asked = [next(talk)]
    while True:
        replies = {name: answering[name].answer(asked[-1].request) for name in asked[-1].clients}
        if tamper is not None:
            replies = {name: tamper(asked[-1], name, reply) for name, reply in replies.items()}
        try:
            asked.append(talk.send({name: reply for name, reply in replies.items() if reply is not None}))
        except StopIteration as finished:
            return finished.value, asked


def edge_answer(edge: EdgeServer, clients: dict[str, Client], request: m.Request) -> m.Reply:
    """What an edge server replies when its sites are objects here."""
    talk = edge.answer(request)
    try:
        ask = next(talk)
        while True:
            ask = talk.send({name: clients[name].answer(ask.request) for name in ask.clients})
    except StopIteration as finished:
        return finished.value


def select_by_edges(plan, rows, groups):
    """A selection with one edge server per group of sites; returns it and all that edges said."""
    edges = {name: EdgeServer(plan, group) for name, group in groups.items()}
    clients = {name: {site: Client(table) for site, table in group.items()} for name, group in groups.items()}
    talk = federated_selection(plan, rows, edges)
    ask, said = next(talk), []
    while True:
        replies = {name: edge_answer(edges[name], clients[name], ask.request) for name in ask.clients}
        said += replies.values()
        try:
            ask = talk.send(replies)
        except StopIteration as finished:
            return finished.value, said


def example(seed: int = 0, n_features: int = 6, n_clients: int = 3) -> Federation:
    """A federation with continuous, 0/1 and few-valued features, not scaled."""
    rng = np.random.default_rng(seed)

    def rows(n: int) -> np.ndarray:
        X = rng.normal(size=(n, n_features)) * 3 + 1
        X[:, 1] = rng.integers(0, 2, n)
        X[:, 2] = rng.integers(0, 5, n)
        return X

    return Federation({f"site-{i}": rows(10 + 3 * i) for i in range(n_clients)}, rows(12), rng.integers(0, 2, (12, 4)))

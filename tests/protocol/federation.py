"""Short ways to run a federation in a test."""

import numpy as np

from fedsieve import messages as m
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Client, EdgeServer, Labeled, Method, Selection, federated_selection
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from strategies import Federation

WIRES = ("matrices", "statistics", "vectors")


def labeled(case: Federation) -> Labeled:
    return Labeled(case.X, case.Y.astype(float))


def sites(case: Federation) -> dict[str, ArrayTable]:
    return {name: ArrayTable(case.features, X) for name, X in case.clients.items()}


def select(case: Federation, **parameters) -> Selection:
    return in_process.select(SSFMLFSMethod(case.features, **parameters), labeled(case), sites(case)).selection


def drive(method: Method, rows: Labeled, clients: dict[str, ArrayTable], tamper=None):
    """A second runtime, ten lines: like `in_process`, but a test may change or swallow (None) any reply."""
    answering = {name: Client(site) for name, site in clients.items()}
    steps = federated_selection(method, rows, clients)
    asked = [next(steps)]
    while True:
        replies = {name: answering[name].answer(asked[-1].request) for name in asked[-1].clients}
        if tamper is not None:
            replies = {name: tamper(asked[-1], name, reply) for name, reply in replies.items()}
        try:
            asked.append(steps.send({name: reply for name, reply in replies.items() if reply is not None}))
        except StopIteration as finished:
            return finished.value, asked


def edge_answer(edge: EdgeServer, clients: dict[str, Client], request: m.Request) -> m.Reply:
    """What an edge server replies when its sites are objects here."""
    steps = edge.answer(request)
    try:
        question = next(steps)
        while True:
            question = steps.send({name: clients[name].answer(question.request) for name in question.clients})
    except StopIteration as finished:
        return finished.value


def select_by_edges(method: Method, rows: Labeled, groups: dict[str, dict[str, ArrayTable]]):
    """A selection with one edge server per group of sites; returns it and all that edges said."""
    edges = {name: EdgeServer(method, group) for name, group in groups.items()}
    clients = {name: {site: Client(table) for site, table in group.items()} for name, group in groups.items()}
    steps = federated_selection(method, rows, edges)
    question, said = next(steps), []
    while True:
        replies = {name: edge_answer(edges[name], clients[name], question.request) for name in question.clients}
        said += replies.values()
        try:
            question = steps.send(replies)
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

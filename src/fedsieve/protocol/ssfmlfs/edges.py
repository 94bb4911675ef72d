"""The edges of the feature graph in the three wire forms; all three give the same product of distance and vector."""

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float
from fedsieve.errors import ParameterError
from fedsieve.fuzzy.graph import PageRank, correlation_distance, pagerank_steps
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.limits import readable_size
from fedsieve.protocol.ssfmlfs.plan import SSFMLFSPlan

FLOAT = 8  # bytes


class Edges(Protocol):
    """A graph that can be multiplied; `distance` is `None` where no one holds it as a whole."""

    distance: Float | None

    def times(self, vector: Float) -> Talk[Float]:
        """The distance times the vector."""


class PooledEdges:
    """The pair sums of all clients, added up at the server."""

    def __init__(self, sums: Float, n_rows: int) -> None:
        self._sums, self._n_pairs = sums, float(n_rows) ** 2
        self.distance: Float | None = correlation_distance(sums, n_rows)

    def times(self, vector: Float) -> Talk[Float]:
        """Multiply here; nobody is asked."""
        yield from ()
        return kernels.distance_product(self._sums, vector) / self._n_pairs


class RemoteEdges:
    """Each client keeps its own pair sums and answers with a product; the relation travels once."""

    distance: Float | None = None

    def __init__(self, cohort: Cohort, relation: m.Relation) -> None:
        self._cohort, self._relation = cohort, relation
        self._told = False

    def times(self, vector: Float) -> Talk[Float]:
        """Ask every client for its product and add them up."""
        request = m.AskProducts(None if self._told else self._relation, vector)
        self._told = True
        total: m.Products = reduce(add, (yield from self._cohort.ask(request)))
        return total.values / float(total.n_rows) ** 2


def check_wire_form(plan: SSFMLFSPlan, n_features: int, n_rows: Mapping[str, int]) -> None:
    """Refuse a wire form whose values alone are above the limit for the client with most rows; name the other forms."""
    client, most = max(n_rows.items(), key=lambda item: item[1])
    sizes = {
        "matrices": n_features * most**2 * FLOAT,
        "statistics": n_features * (n_features + 1) // 2 * FLOAT,
        "vectors": n_features * FLOAT,
    }
    needed = sizes.pop(plan.wire_form)
    if needed <= plan.max_message_bytes:
        return
    fitting = [
        f"wire={name!r} ({readable_size(size)})" for name, size in sizes.items() if size <= plan.max_message_bytes
    ]
    raise ParameterError(
        f"{plan.method}: wire={plan.wire_form!r} needs a message of {readable_size(needed)} from client {client!r} "
        f"({n_features} features, {most} rows), above max_message_bytes={plan.max_message_bytes}. "
        f"Use {' or '.join(fitting) or 'fewer features'}, or raise max_message_bytes."
    )


def connect(plan: SSFMLFSPlan, cohort: Cohort, relation: m.Relation) -> Talk[Edges]:
    """Build the graph of a relation's features in the plan's wire form."""
    check_wire_form(plan, len(relation.columns.features), cohort.n_rows)
    if plan.wire_form == "vectors":
        return RemoteEdges(cohort, relation)
    return PooledEdges(*(yield from pooled_sums(plan.wire_form, cohort, relation)))


def pooled_sums(wire: str, cohort: Cohort, relation: m.Relation) -> Talk[tuple[Float, int]]:
    """The pair sums of all clients together, from their relations or from their own sums, and the number of rows."""
    if wire == "matrices":
        matrices = yield from cohort.ask_in_turn(
            m.AskRelations(relation), lambda reply: kernels.pair_sums_of_relations(reply.values)
        )
        return reduce(add, matrices), cohort.total_rows
    total: m.PairSums = reduce(add, (yield from cohort.ask(m.AskPairSums(relation))))
    return total.matrix(), total.n_rows


def rank(edges: Edges, weights: Float, plan: SSFMLFSPlan) -> Talk[PageRank]:
    """Weighted PageRank over edges that may live elsewhere."""
    degrees = yield from edges.times(np.ones(len(weights)))
    steps = pagerank_steps(weights, degrees, plan.damping, tol=plan.tol, max_iter=plan.max_iter)
    flow = next(steps)
    while True:
        inflow = yield from edges.times(flow)
        try:
            flow = steps.send(inflow)
        except StopIteration as finished:
            ranked: PageRank = finished.value
            return ranked

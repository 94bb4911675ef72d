"""The feature graph in its three wire forms; all give the same product of distance and vector, and one PageRank."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float
from fedsieve.errors import ParameterError
from fedsieve.fuzzy.graph import PageRank, correlation_distance, pagerank_steps
from fedsieve.messages.pair_sums import AskPairSums, PairSums
from fedsieve.messages.products import AskProducts, Products
from fedsieve.messages.relation import Relation
from fedsieve.messages.relation_matrices import AskRelations
from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import readable_size

if TYPE_CHECKING:
    from fedsieve.methods.ssfmlfs import SSFMLFSMethod

FLOAT = 8  # bytes
BLOCKS = "blocks"
AGGREGATIONS = (BLOCKS, "mean", "weighted")
"""Blocks of one relation over all rows, or the mean of the clients' own distances, each the same or by its rows."""


class Edges(Protocol):
    """A graph that can be multiplied; `distance` is `None` where no one holds it as a whole."""

    distance: Float | None

    def times(self, vector: Float, weights: Float) -> Steps[Float]:
        """The distance times the vector, which PageRank makes of these weights."""


class PooledEdges:
    """The pair sums of all clients, added up at the server."""

    def __init__(self, sums: Float, n_rows: int) -> None:
        self._sums, self._n_pairs = sums, float(n_rows) ** 2
        self.distance: Float | None = correlation_distance(sums, n_rows)

    def times(self, vector: Float, weights: Float) -> Steps[Float]:  # noqa: ARG002
        """Multiply here; nobody is asked."""
        yield from ()
        return kernels.distance_product(self._sums, vector) / self._n_pairs


class RemoteEdges:
    """Each client keeps its own pair sums and answers with a product; the relation travels once."""

    distance: Float | None = None

    def __init__(self, cohort: Cohort, relation: Relation) -> None:
        self._cohort, self._relation = cohort, relation
        self._last: Products | None = None

    def times(self, vector: Float, weights: Float) -> Steps[Float]:
        """Ask for the sum of all clients' products; each sees from the last sum that the vector is the next one."""
        if self._last is None:
            request = AskProducts(self._relation, vector)
        else:
            request = AskProducts(None, vector, weights, self._last)
        total: Products = yield from self._cohort.total(request)
        self._last = total
        return total.values / float(total.n_rows) ** 2


def connect(method: "SSFMLFSMethod", cohort: Cohort, relation: Relation) -> Steps[Edges]:
    """Build the graph of a relation's features in the method's wire form."""
    if cohort.n_rows is not None:
        check_wire_form(method, len(relation.columns.features), cohort.n_rows)
    if method.wire_form == "vectors":
        return RemoteEdges(cohort, relation)
    if method.aggregation != BLOCKS:
        told = yield from single_sums(method.wire_form, cohort, relation)
        return PooledEdges(averaged(list(told.values()), by_rows=method.aggregation == "weighted"), 1)
    return PooledEdges(*(yield from pooled_sums(method.wire_form, cohort, relation)))


def check_wire_form(method: "SSFMLFSMethod", n_features: int, n_rows: Mapping[str, int]) -> None:
    """Refuse a wire form whose values alone are above the limit for the client with most rows; name the other forms."""
    client, most = max(n_rows.items(), key=lambda item: item[1])
    sizes = {
        "matrices": n_features * most**2 * FLOAT,
        "statistics": n_features * (n_features + 1) // 2 * FLOAT,
        "vectors": n_features * FLOAT,
    }
    needed = sizes.pop(method.wire_form)
    if needed <= method.max_message_bytes:
        return
    fitting = [
        f"wire={name!r} ({readable_size(size)})" for name, size in sizes.items() if size <= method.max_message_bytes
    ]
    raise ParameterError(
        f"{method.name}: wire={method.wire_form!r} needs a message of {readable_size(needed)} from client {client!r} "
        f"({n_features} features, {most} rows), above max_message_bytes={method.max_message_bytes}. "
        f"Use {' or '.join(fitting) or 'fewer features'}, or raise max_message_bytes."
    )


def pooled_sums(wire: str, cohort: Cohort, relation: Relation) -> Steps[tuple[Float, int]]:
    """The pair sums of all clients together, from their relations or from their own sums, and the number of rows."""
    if wire == "statistics":
        total: PairSums = yield from cohort.total(AskPairSums(relation))
        return total.matrix(), total.n_rows
    told = yield from single_sums(wire, cohort, relation)
    pooled: PairSums = reduce(add, told.values())
    return pooled.matrix(), pooled.n_rows


def single_sums(wire: str, cohort: Cohort, relation: Relation) -> Steps[dict[str, PairSums]]:
    """The pair sums of each client by itself."""
    if wire == "statistics":
        own: dict[str, PairSums] = yield from cohort.each(AskPairSums(relation))
        return own

    def reduced(reply: Any) -> PairSums:
        return PairSums.of(reply.n_rows, reply.features, kernels.pair_sums_of_relations(reply.values))

    replies: dict[str, PairSums] = yield from cohort.each(AskRelations(relation), reduced)
    return replies


def averaged(told: Sequence[PairSums], *, by_rows: bool) -> Float:
    """Sums over one pair of rows of which the distance is the mean of the clients' D_i = (S_p + S_b - 2 S_pb) / n_i².

    Each client counts the same, 1 / M, or `by_rows`, n_i / n. As blocks it counts (n_i / n)²: large clients more, and
    all together less than 1, since rows of different clients are unrelated.
    """
    n_rows = sum(sums.n_rows for sums in told)
    shares = [sums.n_rows / n_rows if by_rows else 1 / len(told) for sums in told]
    parts = [share / float(sums.n_rows) ** 2 * sums.matrix() for share, sums in zip(shares, told, strict=True)]
    return reduce(add, parts)


def rank(edges: Edges, weights: Float, damping: float, tol: float, max_iter: int) -> Steps[PageRank]:
    """Weighted PageRank over edges that may live elsewhere."""
    degrees = yield from edges.times(np.ones(len(weights)), weights)
    steps = pagerank_steps(weights, degrees, damping, tol=tol, max_iter=max_iter)
    flow = next(steps)
    while True:
        inflow = yield from edges.times(flow, weights)
        try:
            flow = steps.send(inflow)
        except StopIteration as finished:
            found: PageRank = finished.value
            return found

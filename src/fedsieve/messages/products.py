"""Products: a client's distances times a vector, one number per feature and round, instead of all pair sums."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import FalseTotalError, ProtocolError
from fedsieve.fuzzy.graph import per_edge, updated_scores
from fedsieve.kernels import costs
from fedsieve.messages.base import (
    AT_WORST,
    Addend,
    Known,
    Reply,
)
from fedsieve.messages.relation import Relation, RelationRequest, RelationTerms, more_pairs
from fedsieve.messages.reply_rules import SLACK, finite_rule, rows_rule, shape_rule
from fedsieve.messages.site_graph import graph_digest, graph_product, keep_graph
from fedsieve.messages.site_view import Memory, SiteView
from fedsieve.tables import Table, compared_rows

SUMS_TOLD = 5  # pair sums per feature that one product gives away at most, where they are small whole numbers
WAY_OUT = "Use fewer features, or a smaller max_iter."
OWN, DEGREES = "last product", "degrees"  # what a site remembers from its first product on
ALIKE = 1 / 2048  # of two features, up to which a site may count their degrees as equal


@dataclass(frozen=True, eq=False)
class Products(Reply):
    """A client's distances, times n², times the vector it was asked about, for the features of the last relation.

    Reveals one weighted sum of distances per feature and round; after n_features rounds it could reveal the pair sums.
    """

    at_worst: ClassVar[str] = AT_WORST

    n_rows: int
    values: Float

    def __add__(self, other: "Products") -> "Products":
        return Products(self.n_rows + other.n_rows, self.values + other.values)


@dataclass(frozen=True, eq=False)
class AskProducts(RelationRequest):
    """Server: your distances times this vector. Reveals the features' weights and intermediate scores to every client.

    `relation` is `None` where it is the one of the request before. The first vector is all ones and gives the degrees;
    each further one follows by PageRank from `weights` and from `previous`, the total of the last products.
    """

    reply: ClassVar = Products
    tells_of: ClassVar = "distances"
    title: ClassVar = "products for PageRank"
    remembered: ClassVar = True  # distances are symmetric, which two products show

    relation: Relation | None
    vector: Float
    weights: Float | None = None
    previous: Products | None = None

    def pins(self) -> Mapping[str, Any]:
        """Also the weights."""
        weights = {} if self.weights is None else {"the weights": self.weights.tolist()}
        return {**super().pins(), **weights}

    def answer_in_run(self, table: Table, memory: Memory) -> Products:
        """From the site's graph, which is made once per run and kept there."""
        if self.relation is not None:
            keep_graph(memory, self.relation, table)
        products = graph_product(memory, self.vector)
        if products is None:
            raise ProtocolError("asked for a product before the relation was given. Start the run again.")
        sample = compared_rows(table)
        if sample is not None:  # a row's distance to itself is 0, so that only pairs of two count
            products = products * more_pairs(len(sample), table.n_rows)
        memory.keep(OWN, products)
        return Products(table.n_rows, products)

    def complaints(self, reply: Products, known: Known) -> Iterator[str]:
        """What n² times distances, times a vector, can be."""
        vector, values = self.vector, reply.values
        yield from rows_rule(reply.n_rows, known)
        yield from shape_rule("values", values, vector.shape)
        yield from finite_rule("values", values)
        n_pairs, total = reply.n_rows * (reply.n_rows - 1), float(vector.sum())
        most = n_pairs * (total - vector)  # a distance times n² is at most n² - n, and 0 from a feature to itself
        room = SLACK * n_pairs * total
        if np.any(values < -room) or np.any(values > most + room):
            yield f"sent products outside [0, {n_pairs * total:.6g}], the bounds for {reply.n_rows} rows."
        # The triangle inequality: y_b <= y_p + D_pb (Σv - 2 v_b), and D_pb v_b <= y_p.
        # Sites with many features count degrees that are nearly equal as equal.
        room = room if vector.size <= costs.ALWAYS_SUMS else ALIKE * n_pairs * total
        weighty = vector > SLACK * total
        ratio = np.maximum((total - vector[weighty]) / vector[weighty], 1.0)
        if np.any(values[weighty] > (values.min() + room) * ratio):
            yield "sent products too far apart for one metric."

    def contradictions(self, reply: Products, known: Known) -> Iterator[str]:
        """Needs the client's last `Products`: D is symmetric, so u·Dv = v·Du."""
        if self.relation is not None or AskProducts not in known.earlier:
            return
        before: AskProducts = known.earlier[AskProducts][0]
        product: Products = known.earlier[AskProducts][1]
        one, other = float(before.vector @ reply.values), float(self.vector @ product.values)
        # Room for rounding in proportion to what is added up.
        if abs(one - other) > SLACK * reply.n_rows**2 * float(before.vector.sum()) * float(self.vector.sum()):
            yield "sent products that contradict its earlier ones: no symmetric distance has both."

    def addends(self, n_rows: int) -> tuple[Addend, ...]:
        """A distance is at most 1 for each pair of rows of a site."""
        return (Addend(self.vector.shape, float(n_rows) ** 2 * float(np.abs(self.vector).sum())),)

    def numbers(self, reply: Products) -> tuple[np.ndarray, ...]:
        """The products."""
        return (reply.values,)

    def reply_of(self, n_rows: int, numbers: tuple[np.ndarray, ...], errors: object) -> Products:  # noqa: ARG002
        """The products."""
        return Products(n_rows, *numbers)


@dataclass(frozen=True, eq=False)
class ProductsTerms(RelationTerms):
    """One number per feature in each round, for vectors that PageRank makes: no others are multiplied."""

    request: ClassVar = AskProducts

    max_rounds: int = 1
    damping: float = 0.85

    def n_compared(self, n_varying: int, n_codes: int) -> int:  # noqa: ARG002
        """What varies at one site varies in all; few rounds tell of less."""
        return min(n_varying, SUMS_TOLD * self.max_rounds)

    def check_rows(self, relation: Relation, site: SiteView) -> None:
        """Whole numbers of this size tell about five columns' pair sums a round."""
        if self._tells_all(len(relation.columns.features)):
            site.check_enough_rows(relation.told_columns(), "products", WAY_OUT)
        else:  # what a whole run tells, before it begins; vectors are counted as they come
            whole = {"all rounds": SUMS_TOLD * self.max_rounds}
            replace(site, told={}).check_enough_rows(whole, "products", WAY_OUT)

    def tells(self, request: AskProducts, site: SiteView) -> Mapping[str, int]:
        """The features, told of with their relation, where all rounds could tell that much; else one vector more.

        The kept graph says which relation a vector was multiplied with; it is not there yet when it is the first.
        """
        if self._tells_all(len(request.vector)):
            return {} if request.relation is None else request.relation.told_columns()
        kept = graph_digest(site.memory) if request.relation is None else b""
        about = kept or json.dumps(request.pins()).encode()
        return {f"product {hashlib.sha256(about + request.vector.tobytes()).hexdigest()}": SUMS_TOLD}

    def _tells_all(self, n_columns: int) -> bool:
        return n_columns <= SUMS_TOLD * self.max_rounds

    @property
    def most(self) -> int:
        """The degrees, and one round per iteration."""
        return self.max_rounds

    def check_site(self, request: AskProducts, site: SiteView) -> None:
        """Also that the vector is the next one of PageRank."""
        super().check_site(request, site)
        expected, degrees = self._next_vector(request, site.memory)
        if request.vector.shape != expected.shape or not np.allclose(request.vector, expected, rtol=SLACK, atol=0):
            raise ProtocolError("was sent a vector that PageRank does not make of the weights and the last total.")
        site.check_enough_rows(self.tells(request, site), "products", WAY_OUT)
        if degrees is not None:
            site.memory.keep(DEGREES, degrees)

    def _next_vector(self, request: AskProducts, memory: Memory) -> tuple[Float, Float | None]:
        """What an honest server multiplies now; and the degrees, where this is the first vector that follows."""
        n = request.vector.size
        if request.relation is not None:
            return np.ones(len(request.relation.columns.features)), None
        weights, previous, own = request.weights, request.previous, memory.recall(OWN)
        if weights is None or previous is None or own is None or not weights.shape == previous.values.shape == (n,):
            raise ProtocolError("was sent a vector without the weights and the last total that it follows from.")
        if not np.all((weights >= 0) & (weights <= 1)):
            raise ProtocolError("was sent weights outside [0, 1].")
        if np.any(previous.values < own * (1 - SLACK)):
            raise FalseTotalError("was sent a total of products that does not hold its own.")
        inflow = previous.values / float(previous.n_rows) ** 2
        degrees = memory.recall(DEGREES)
        if degrees is None:
            return weights * per_edge(inflow), inflow
        return updated_scores(weights, degrees, self.damping, inflow) * per_edge(degrees), None

    def reveals(self) -> str:
        """Little in a round, and more in many."""
        return (
            f"{len(self.columns.features)} weighted sums of distances in each of at most {self.max_rounds} rounds; all "
            "rounds together at most how alike any two features relate the rows, of 0/1 columns all correlations; "
            f"{AT_WORST}"
        )

"""Products: a client's distances times a vector, one number per feature and round, instead of all pair sums."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float
from fedsieve.errors import ProtocolError
from fedsieve.messages.base import SLACK, Known, Memory, Reply, Request, finite_rule, rows_rule, shape_rule
from fedsieve.messages.relation import Relation, RelationTerms
from fedsieve.tables import Table

SUMS = "pair sums"  # what a site remembers from its first product on


@dataclass(frozen=True, eq=False)
class Products(Reply):
    """A client's distances, times n², times the vector it was asked about, for the features of the last relation.

    Reveals one weighted sum of distances per feature and round; after n_features rounds it could reveal the pair sums.
    """

    n_rows: int
    values: Float

    def __add__(self, other: "Products") -> "Products":
        return Products(self.n_rows + other.n_rows, self.values + other.values)


@dataclass(frozen=True, eq=False)
class AskProducts(Request):
    """Server: your distances times this vector. Reveals intermediate scores to every client.

    `relation` is `None` where it is the one of the request before.
    """

    reply: ClassVar = Products
    title: ClassVar = "products for PageRank"
    remembered: ClassVar = True  # distances are symmetric, which two products show

    relation: Relation | None
    vector: Float

    def answer_in_run(self, table: Table, memory: Memory) -> Products:
        """From the pair sums, which are computed once per run and kept at the site."""
        if self.relation is None:
            sums = memory.recall(SUMS)
        else:
            sums = self.relation.pair_sums(table)
            memory.keep(SUMS, sums)
        if sums is None:
            raise ProtocolError("asked for a product before the relation was given. Start the run again.")
        return Products(table.n_rows, kernels.distance_product(sums, self.vector))

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


@dataclass(frozen=True, eq=False)
class ProductsTerms(RelationTerms):
    """One number per feature in each round."""

    request: ClassVar = AskProducts

    max_rounds: int = 1

    def reveals(self) -> str:
        """Little in a round, and more in many."""
        return f"{len(self.columns.features)} weighted sums of distances in each of at most {self.max_rounds} rounds"

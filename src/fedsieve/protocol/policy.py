"""What a site agreed to answer, checked at the site: a request for anything else is refused, whoever signed it."""

from dataclasses import dataclass

import numpy as np

from fedsieve.errors import ProtocolError, listed
from fedsieve.protocol import messages as m
from fedsieve.protocol.plan import Plan

GRAPH_REQUESTS: dict[str, type[m.Request]] = {
    "matrices": m.AskRelations,
    "statistics": m.AskPairSums,
    "vectors": m.AskProducts,
}


@dataclass(frozen=True, eq=False)
class Policy:
    """The kinds of request that follow from a plan, its columns, and how many rows a site must have to take part."""

    plan: Plan
    min_rows: int = 2

    @property
    def kinds(self) -> tuple[type[m.Request], ...]:
        """The requests a run under this plan makes, in order; anything else was not agreed on."""
        first = (m.AskRanges,) if self.plan.ranges == "federated" else ()
        return (*first, m.AskMoments, GRAPH_REQUESTS[self.plan.wire_form])

    def check(self, request: m.Request, n_rows: int) -> None:
        """Raise `ProtocolError` where the request, or a site of so few rows, is outside the agreement."""
        if n_rows < self.min_rows:
            raise ProtocolError(
                f"has {n_rows} rows, the agreement asks for {self.min_rows} (min_rows): sums of few rows hide little."
            )
        if type(request) not in self.kinds:
            agreed = ", ".join(kind.__name__ for kind in self.kinds)
            raise ProtocolError(f"was asked {type(request).__name__}, which was not agreed on; agreed: {agreed}.")
        match request:
            case m.AskRanges(columns):
                self._check_columns(columns)
            case m.AskMoments(columns, scaling):
                self._check_columns(columns)
                self._check_scaling(columns, scaling)
            case m.AskRelations(relation) | m.AskPairSums(relation):
                self._check_relation(relation)
            case m.AskProducts(relation) if relation is not None:
                self._check_relation(relation)

    def check_answer(self, reply: m.Reply) -> None:
        """Raise `ProtocolError` where a server chose ranges to count a site's values by them."""
        if self.plan.ranges == "federated" and isinstance(reply, m.Moments) and reply.n_clipped:
            raise ProtocolError("was sent ranges that do not hold its own values; federated ranges hold those of all.")

    def _check_relation(self, relation: m.Relation) -> None:
        self._check_columns(relation.columns)
        self._check_scaling(relation.columns, relation.scaling)
        if relation.kind != self.plan.relation:
            raise ProtocolError(f"was asked for the relation {relation.kind!r}; agreed: {self.plan.relation!r}.")

    def _check_columns(self, columns: m.Columns) -> None:
        others = [name for name in columns.features if name not in set(self.plan.features)]
        if others:
            raise ProtocolError(f"was asked for columns that were not agreed on: {listed(others)}.")
        nominal = {name for name in columns.features if name in self.plan.nominal}
        if columns.missing != self.plan.missing or set(columns.nominal) != nominal:
            raise ProtocolError("was asked to read its columns in another way than agreed (nominal, missing).")

    def _check_scaling(self, columns: m.Columns, scaling: m.Scaling) -> None:
        if self.plan.ranges == "federated":
            return
        sent = (scaling.low, scaling.high)
        declared = self.plan.declared_ranges()
        if declared is None:
            agreed = all(edge is None for edge in sent)
        else:
            place = [self.plan.features.index(name) for name in columns.features]
            pairs = zip(sent, declared, strict=True)
            agreed = all(edge is not None and np.array_equal(edge, own[place]) for edge, own in pairs)
        if not agreed:
            raise ProtocolError("was asked to scale its columns by other ranges than agreed.")


def what_leaves(plan: Plan) -> list[tuple[str, str]]:
    """For a person who must consent: each message that a site will send under the plan, and what it reveals."""
    d = len(plan.features)
    ranges = ("Ranges", f"smallest and largest value of {d} columns: two values of each column, those of extreme rows")
    moments = ("Moments", f"count, mean and spread of {d} scaled columns, and the number of rows")
    graph = {
        "matrices": (
            "Relations",
            "one matrix per feature: every value of every row up to shift and mirror",
        ),
        "statistics": (
            "PairSums",
            f"{d * (d + 1) // 2} sums over pairs of rows: how alike features relate the rows",
        ),
        "vectors": ("Products", f"{d} weighted sums of distances in each of at most {plan.max_iter + 1} rounds"),
    }
    first = [ranges] if plan.ranges == "federated" else []
    return [*first, moments, graph[plan.wire_form]]

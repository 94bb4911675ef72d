"""What a site agreed to when it agreed to SSFMLFS."""

import numpy as np

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.ssfmlfs.plan import SSFMLFSPlan

GRAPH_REQUESTS: dict[str, type[m.Request]] = {
    "matrices": m.AskRelations,
    "statistics": m.AskPairSums,
    "vectors": m.AskProducts,
}


def requests(plan: SSFMLFSPlan) -> tuple[type[m.Request], ...]:
    """The requests of a run, in order."""
    first = (m.AskRanges,) if plan.ranges == "federated" else ()
    return (*first, m.AskMoments, GRAPH_REQUESTS[plan.wire_form])


def check_request(plan: SSFMLFSPlan, request: m.Request) -> None:
    """Raise `ProtocolError` where scaling or relation are other than agreed."""
    match request:
        case m.AskMoments(columns, scaling):
            _check_scaling(plan, columns, scaling)
        case m.AskRelations(relation) | m.AskPairSums(relation):
            _check_relation(plan, relation)
        case m.AskProducts(relation) if relation is not None:
            _check_relation(plan, relation)


def check_answer(plan: SSFMLFSPlan, reply: m.Reply) -> None:
    """Raise `ProtocolError` where a server chose ranges to count a site's values by them."""
    if plan.ranges == "federated" and isinstance(reply, m.Moments) and reply.n_clipped:
        raise ProtocolError("was sent ranges that do not hold its own values; federated ranges hold those of all.")


def _check_relation(plan: SSFMLFSPlan, relation: m.Relation) -> None:
    _check_scaling(plan, relation.columns, relation.scaling)
    if relation.kind != plan.relation:
        raise ProtocolError(f"was asked for the relation {relation.kind!r}; agreed: {plan.relation!r}.")


def _check_scaling(plan: SSFMLFSPlan, columns: m.Columns, scaling: m.Scaling) -> None:
    if plan.ranges == "federated":
        return
    sent = (scaling.low, scaling.high)
    declared = plan.declared_ranges()
    if declared is None:
        agreed = all(edge is None for edge in sent)
    else:
        place = [plan.features.index(name) for name in columns.features]
        pairs = zip(sent, declared, strict=True)
        agreed = all(edge is not None and np.array_equal(edge, own[place]) for edge, own in pairs)
    if not agreed:
        raise ProtocolError("was asked to scale its columns by other ranges than agreed.")


def what_leaves(plan: SSFMLFSPlan) -> list[tuple[str, str]]:
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


def why_not_added(plan: SSFMLFSPlan, request: m.Request) -> str | None:
    """Why replies of several sites do not add up to one; `None` where they do."""
    if isinstance(request, m.AskRelations):
        return "relation matrices do not add up. Use wire='statistics' or 'vectors'."
    if plan.spread == "mean":
        return "spread='mean' averages over single sites, which it does not name. Use 'pooled'."
    return None

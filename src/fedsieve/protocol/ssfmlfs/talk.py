"""The server's side of SSFMLFS: ranges, moments, the graph, PageRank."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.fuzzy.graph import correlation_distance
from fedsieve.fuzzy.ranking import order_by_score
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import SERVER, Cohort, Talk
from fedsieve.protocol.plan import Labeled
from fedsieve.protocol.selection import Selection
from fedsieve.protocol.ssfmlfs.edges import connect, pooled_sums, rank
from fedsieve.protocol.ssfmlfs.plan import SSFMLFSPlan
from fedsieve.protocol.summaries import ranges_of, scaled


@dataclass(frozen=True, eq=False)
class GraphSelection(Selection):
    """Also the radius of each feature's relation, the distances, and how PageRank ended."""

    radius: Float
    distance: Float | None  # (n_features, n_features), 0 for features that are no vertices; None under "vectors"
    selected_distance: Float | None  # (k, k) among the selected, best first
    n_iter: int
    residual: float
    n_clipped: dict[str, int]  # per site, the server included; only declared ranges clip

    def columns(self) -> dict[str, Float]:
        """With the radius."""
        return {**super().columns(), "radius": self.radius}

    def facts(self) -> dict[str, Any]:
        """How PageRank ended, and what was clipped."""
        return {"n_iter": self.n_iter, "residual": self.residual, "n_clipped": self.n_clipped}


def select_by_graph(plan: SSFMLFSPlan, labeled: Labeled, cohort: Cohort) -> Talk[GraphSelection]:
    """One run with one cohort."""
    columns = m.Columns(plan.features, plan.nominal, plan.missing)
    scaling = yield from _agree_on_scaling(plan, labeled, cohort, columns)
    moments: list[m.Moments] = yield from cohort.ask(m.AskMoments(columns, scaling))
    pooled = reduce(add, moments)
    vertex = (pooled.m2 > 0) | (plan.constant == "keep")
    radius = np.where(plan.nominal_mask | ~vertex, 0.0, _spread(plan, moments, pooled) / plan.lam)
    weights, n_clipped = _relevance(plan, labeled, scaling, radius)
    weights[~vertex] = 0.0

    n_features = len(plan.features)
    scores, n_iter, residual = np.zeros(n_features), 0, 0.0
    distance = None if plan.wire_form == "vectors" else np.zeros((n_features, n_features))
    if vertex.any():
        edges = yield from connect(plan, cohort, _relation(plan, columns, scaling, radius, vertex))
        ranked = yield from rank(edges, weights[vertex], plan)
        scores[vertex], n_iter, residual = ranked.scores, ranked.n_iter, ranked.residual
        distance = None if edges.distance is None else _spread_out(edges.distance, vertex)
    order = order_by_score(scores, last=~vertex)
    chosen = order[: plan.k]
    if distance is not None:
        block: Float | None = distance[np.ix_(chosen, chosen)]
    elif plan.selected_distance and vertex[chosen].any():
        block = yield from _block(plan, cohort, columns, scaling, radius, vertex, chosen)
    else:
        block = None
    return GraphSelection(
        scores=scores,
        order=order,
        relevance=weights,
        radius=radius,
        distance=distance,
        selected_distance=block,
        n_iter=n_iter,
        residual=residual,
        n_rows=dict(cohort.n_rows),
        n_clipped={
            SERVER: n_clipped,
            **{name: part.n_clipped for name, part in zip(cohort.clients, moments, strict=True)},
        },
    )


def _agree_on_scaling(plan: SSFMLFSPlan, labeled: Labeled, cohort: Cohort, columns: m.Columns) -> Talk[m.Scaling]:
    """Step 0: whose smallest and largest values become 0 and 1."""
    if plan.ranges == "local":
        return m.Scaling(None, None)
    if plan.ranges == "federated":
        own = ranges_of(labeled.X, plan.features)
        ranges: m.Ranges = reduce(add, (yield from cohort.ask(m.AskRanges(columns))), own)
        return m.Scaling(ranges.low, ranges.high)
    return m.Scaling(*(plan.declared_ranges() or (None, None)))


def _spread(plan: SSFMLFSPlan, moments: list[m.Moments], pooled: m.Moments) -> Float:
    """Step 1: the n-1 deviation of all clients' rows together, or the plain mean of the clients' deviations."""
    if plan.spread == "pooled":
        return _deviation(pooled)
    deviations = np.array([_deviation(part) for part in moments])
    known = np.array([part.count >= 2 for part in moments])  # one present value has no deviation
    mean: Float = np.where(known, deviations, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return mean


def _deviation(moments: m.Moments) -> Float:
    deviation: Float = np.sqrt(moments.m2 / np.maximum(moments.count - 1, 1))
    return deviation


def _relevance(plan: SSFMLFSPlan, labeled: Labeled, scaling: m.Scaling, radius: Float) -> tuple[Float, int]:
    """Step 5, on the server's own rows, and how many of their values were clipped."""
    low, high = scaling.low, scaling.high
    if low is None or high is None:
        own = ranges_of(labeled.X, plan.features)
        low, high = own.low, own.high
    X, n_clipped = scaled(labeled.X, low, high, plan.nominal_mask)
    how = (radius, plan.relation, plan.nominal_mask)
    decisions = labeled.Y if plan.decisions == "crisp" else kernels.soft_decisions(X, labeled.Y, *how)
    different = kernels.different_rows(decisions, plan.n_neighbors, plan.irrelevant)
    return kernels.relevance(X, different, *how), n_clipped


def _relation(
    plan: SSFMLFSPlan, columns: m.Columns, scaling: m.Scaling, radius: Float, chosen: Bool | Int
) -> m.Relation:
    """The relation of some of the features, given as mask or indices."""
    features = tuple(np.array(columns.features, dtype=object)[chosen])
    nominal = tuple(name for name in columns.nominal if name in set(features))
    low, high = (None if edge is None else edge[chosen] for edge in (scaling.low, scaling.high))
    return m.Relation(
        m.Columns(features, nominal, columns.missing), m.Scaling(low, high), radius[chosen], plan.relation
    )


def _block(
    plan: SSFMLFSPlan,
    cohort: Cohort,
    columns: m.Columns,
    scaling: m.Scaling,
    radius: Float,
    vertex: Bool,
    chosen: Int,
) -> Talk[Float]:
    """The distances among the chosen features, which no one holds under `vectors`: one more round of small sums."""
    relation = _relation(plan, columns, scaling, radius, chosen[vertex[chosen]])
    sums, n_rows = yield from pooled_sums("statistics", cohort, relation)
    return _spread_out(correlation_distance(sums, n_rows), vertex[chosen])


def _spread_out(distance: Float, vertex: Bool) -> Float:
    """Distances among the vertices as a matrix of all features; the others have no edges."""
    full = np.zeros((len(vertex), len(vertex)))
    full[np.ix_(vertex, vertex)] = distance
    return full

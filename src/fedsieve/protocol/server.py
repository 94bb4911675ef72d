"""The server's side of a selection, as a generator: yields questions, is sent replies, returns the selection.

It does no I/O, reads no clock and starts no thread, so that any runtime can drive it: one process, a test that loses
messages, or a network. One run is one cohort: if a client must be dropped, everything is asked again of the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Bool, Float, Int
from fedsieve.errors import DataError, ParameterError, ProtocolError
from fedsieve.fuzzy.graph import correlation_distance
from fedsieve.fuzzy.ranking import order_by_score
from fedsieve.protocol import messages as m
from fedsieve.protocol.client import check_values
from fedsieve.protocol.cohort import BadReplyError, Cohort, Talk
from fedsieve.protocol.edges import connect, pooled_sums, rank
from fedsieve.protocol.plan import OWNER, Labelled, Plan
from fedsieve.protocol.summaries import ranges_of, scaled

SERVER = "server"


@dataclass(frozen=True, eq=False)
class Selection:
    """What a run found. Per feature: score, relevance, radius; then the order, best first, and how it came about."""

    scores: Float
    order: Int
    relevance: Float
    radius: Float
    distance: Float | None  # (n_features, n_features), 0 for features that are no vertices; None under "vectors"
    selected_distance: Float | None  # (k, k) among the selected, best first
    n_iter: int
    residual: float
    n_rows: dict[str, int]  # per client
    n_clipped: dict[str, int]  # per site, the server included; only declared ranges clip
    dropped: dict[str, str] = field(default_factory=dict)  # client -> why


def federated_selection(plan: Plan, labelled: Labelled, clients: Iterable[str]) -> Talk[Selection]:
    """Run SSFMLFS with the named clients: ranges, moments, graph, PageRank.

    Yields `Ask`, is sent a mapping from client name to reply, and returns the `Selection`. A reply that breaks a rule
    ends the run, or, under `on_bad_client="drop"`, starts it anew without that client.
    """
    names = tuple(clients)
    _check_names(plan, names)
    check_labelled(plan, labelled)
    dropped: dict[str, str] = {}
    rounds = 0
    while True:
        cohort = Cohort(names, plan, rounds)
        try:
            selection = yield from _select(plan, labelled, cohort)
            return replace(selection, dropped=dropped)
        except BadReplyError as bad:
            if plan.on_bad_client == "raise":
                raise
            dropped.update(bad.reasons)
            names = tuple(name for name in names if name not in bad.reasons)
            rounds = cohort.round
            if len(names) < plan.min_clients:
                raise ProtocolError(
                    f"{OWNER}: {len(names)} client left, at least {plan.min_clients} needed. Dropped: "
                    + " ".join(f"{name!r}: {reason}" for name, reason in dropped.items())
                ) from bad


def _select(plan: Plan, labelled: Labelled, cohort: Cohort) -> Talk[Selection]:
    columns = m.Columns(plan.features, plan.nominal, plan.missing)
    scaling = yield from _agree_on_scaling(plan, labelled, cohort, columns)
    moments: list[m.Moments] = yield from cohort.ask(m.AskMoments(columns, scaling))
    pooled = reduce(add, moments)
    vertex = (pooled.m2 > 0) | (plan.constant == "keep")
    radius = np.where(plan.nominal_mask | ~vertex, 0.0, _spread(plan, moments, pooled) / plan.lam)
    weights, n_clipped = _relevance(plan, labelled, scaling, radius)
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
    return Selection(
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


def _agree_on_scaling(plan: Plan, labelled: Labelled, cohort: Cohort, columns: m.Columns) -> Talk[m.Scaling]:
    """Step 0: whose smallest and largest values become 0 and 1."""
    if plan.ranges == "local":
        return m.Scaling(None, None)
    if plan.ranges == "federated":
        own = ranges_of(labelled.X, plan.features)
        ranges: m.Ranges = reduce(add, (yield from cohort.ask(m.AskRanges(columns))), own)
        return m.Scaling(ranges.low, ranges.high)
    return m.Scaling(*(plan.declared_ranges() or (None, None)))


def _spread(plan: Plan, moments: list[m.Moments], pooled: m.Moments) -> Float:
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


def _relevance(plan: Plan, labelled: Labelled, scaling: m.Scaling, radius: Float) -> tuple[Float, int]:
    """Step 5, on the server's own rows, and how many of their values were clipped."""
    low, high = scaling.low, scaling.high
    if low is None or high is None:
        own = ranges_of(labelled.X, plan.features)
        low, high = own.low, own.high
    X, n_clipped = scaled(labelled.X, low, high, plan.nominal_mask)
    how = (radius, plan.relation, plan.nominal_mask)
    decisions = labelled.Y if plan.decisions == "crisp" else kernels.soft_decisions(X, labelled.Y, *how)
    different = kernels.different_rows(decisions, plan.n_neighbors, plan.irrelevant)
    return kernels.relevance(X, different, *how), n_clipped


def _relation(plan: Plan, columns: m.Columns, scaling: m.Scaling, radius: Float, chosen: Bool | Int) -> m.Relation:
    """The relation of some of the features, given as mask or indices."""
    features = tuple(np.array(columns.features, dtype=object)[chosen])
    nominal = tuple(name for name in columns.nominal if name in set(features))
    low, high = (None if edge is None else edge[chosen] for edge in (scaling.low, scaling.high))
    return m.Relation(
        m.Columns(features, nominal, columns.missing), m.Scaling(low, high), radius[chosen], plan.relation
    )


def _block(
    plan: Plan,
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


def _check_names(plan: Plan, names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names) or SERVER in names:
        raise ParameterError(f"{OWNER}: client names must differ from each other and from {SERVER!r}; got {names}.")
    if len(names) < plan.min_clients:
        raise ParameterError(
            f"{OWNER}: a federation needs at least {plan.min_clients} clients; got {len(names)}. "
            "For rows in one place call fit(X, Y) without clients."
        )


def check_labelled(plan: Plan, labelled: Labelled) -> None:
    """Refuse labelled rows that do not fit the plan, or are too few for it."""
    n_samples, n_features = labelled.X.shape
    if n_features != len(plan.features):
        raise DataError(f"the labelled rows have {n_features} columns, the plan {len(plan.features)} features.")
    if len(labelled.Y) != n_samples or labelled.Y.ndim != 2:
        raise DataError(
            f"the labels have shape {labelled.Y.shape}; need one row for each of {n_samples} labelled rows."
        )
    if plan.n_neighbors >= n_samples:
        raise ParameterError(
            f"{OWNER}: n_neighbors must be below the number of labelled rows, {n_samples}; got {plan.n_neighbors}. "
            "Label more rows or lower n_neighbors."
        )
    try:
        check_values(labelled.X, plan.features, plan.missing)
    except DataError as error:
        raise DataError(f"the labelled rows have {error}") from None

"""Ranges that move from run to run: a server that lies about totals has columns clipped, or cut, at edges it chose.

Each answer by itself is harmless. But a column clipped at one edge, less the same column clipped at the next, is 0 in
all rows that do not lie beyond: with one row there, the difference of two answers is that row. In FMLFS the edges cut a
column in two; a row that is alone on one side is told from all others, and runs with other edges tell where it lies.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.audit.attacks.chosen_requests import RefusedError
from fedsieve.audit.attacks.gram import gram_of
from fedsieve.messages import Refusal, Reply, Request, Scaling
from fedsieve.messages.columns import Bins, Columns, square
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.information import AskInformation

MANY = 10**6  # rows that the server makes up: beside them no site's own rows are more than a tail
N_EDGES, N_STEPS = 33, 8  # as many as a site answers about

AskInRun = Callable[[Request, str], Reply]


def answered(ask: AskInRun, request: Request, run: str) -> Any:
    """The reply; a refusal ends the attack."""
    reply = ask(request, run)
    if isinstance(reply, Refusal):
        raise RefusedError(reply.reason)
    return reply


def fine_edges(own: Float) -> Float:
    """Edges for each column, (n_columns, 33): eight steps between the server's own extremes, and room on both sides.

    The room is for ranges that cut a column where the server likes: see `row_by_halving`.
    """
    low, span = own.min(axis=0), np.ptp(own, axis=0)
    step = np.where(span > 0, span, 1.0) / N_STEPS
    edges: Float = low[:, None] + step[:, None] * (np.arange(N_EDGES) - (N_STEPS + 5.5))
    return edges


def ranges_between(bins: Bins, own: Int, low: Int, high: Int) -> Scaling:
    """Ranges from one edge to another, by their numbers, that follow from a total which holds the site's own counts."""
    parts = [part.copy() for part in bins.split(own)]
    for part, first, last in zip(parts, low + 1, high, strict=True):
        part[[first, last]] += MANY
    return Scaling.robust(bins, np.concatenate(parts))


def lone_edge(counts: list[Int]) -> tuple[int, int] | None:
    """The first column that has an edge which one value alone lies beyond, and the lowest such edge; or none."""
    for column, part in enumerate(counts):
        alone = np.flatnonzero(part.sum() - np.cumsum(part)[:-2] == 1)
        if len(alone):
            return column, int(alone[0])
    return None


def row_beyond_an_edge(
    ask: AskInRun, columns: Columns, edges: Float, labels: tuple[str, ...] = ()
) -> tuple[int, Float] | None:
    """Sieve and FedCMFS, two runs: the row that is alone beyond an edge of some column, and which column that is.

    Of that column itself the row says nothing (NaN); labels come last. Nothing where no value is alone.
    """
    bins, d = Bins.of(edges), len(columns.features)
    own = answered(ask, AskHistograms(columns, bins), "first").counts
    found = lone_edge(bins.split(own))
    if found is None:
        return None
    column, edge = found
    seen = []
    for run, last in (("first", edge), ("second", edge + 1)):
        answered(ask, AskHistograms(columns, bins), run)
        high = np.full(d, edges.shape[1] - 1)
        high[column] = last
        request = AskCovariances(columns, ranges_between(bins, own, np.zeros(d, dtype=int), high), labels)
        seen.append(gram_of(request, answered(ask, request, run)).products)
    line = (seen[1] - seen[0])[1 + column]
    with np.errstate(invalid="ignore", divide="ignore"):
        row: Float = line[1:] / line[0]
    row[column] = np.nan
    return column, row


def row_by_halving(
    ask: AskInRun, columns: Columns, labels: tuple[str, ...], edges: Float, n_bins: int = 2
) -> tuple[int, Float, Bool] | None:
    """FMLFS, a run per step: where the row that is alone beyond an edge of some column lies in the others.

    And which labels it has, which are taken to be rarer than not. Ranges put one cut of two or three bins where the
    search is, and the other, if any, above all values: `fine_edges` leave room for that.
    """
    bins, d, last = Bins.of(edges), len(columns.features), edges.shape[1] - 1
    own = answered(ask, AskHistograms(columns, bins), "step 1").counts
    found = lone_edge(bins.split(own))
    if found is None:
        return None
    column, edge = found
    n = int(bins.split(own)[column].sum())
    below = np.array([np.cumsum(part)[:-1] for part in bins.split(own)])  # values below each edge
    left, right = np.zeros(d, dtype=int), np.full(d, last)
    for step in range(1, int(np.log2(last)) + 1):
        at = (left + right) // 2
        at[column] = edge
        wide = np.minimum(at, (last - at) // (n_bins - 1))
        run = f"step {step}"
        answered(ask, AskHistograms(columns, bins), run)
        scaling = ranges_between(bins, own, at - wide, at + (n_bins - 1) * wide)
        reply = answered(ask, AskInformation(columns, labels, scaling, n_bins), run)
        apart = square(reply.apart, d, 1)[column]
        above = [_is_among(n, n - int(below[g, at[g]]), float(apart[g])) for g in range(d)]
        left, right = np.where(above, at, left), np.where(above, right, at)
    places = np.arange(d)
    row: Float = (edges[places, left] + edges[places, right]) / 2
    row[column] = np.nan
    return column, row, np.array([_has_label(n, float(told)) for told in reply.relevance[column]])


def _is_among(n: int, others: int, apart: float) -> bool:
    """Whether a lone row is one of so many of n, from the distance 2 H(f, g) - H(f) - H(g) of both columns."""
    single = _entropy(n, 1, n - 1) + _entropy(n, others, n - others)
    distance = [2 * joint - single for joint in _joint(n, others)]
    return abs(distance[1] - apart) < abs(distance[0] - apart)


def _has_label(n: int, told: float) -> bool:
    """The same for a label of unknown frequency, from I = H(f) + H(y) - H(f, y)."""
    tried = {
        (_entropy(n, 1, n - 1) + _entropy(n, ones, n - ones) - joint): has
        for ones in range(1, n // 2)
        for has, joint in enumerate(_joint(n, ones))
    }
    return bool(tried[min(tried, key=lambda value: abs(value - told))])


def _joint(n: int, others: int) -> tuple[float, float]:
    """H of a lone row and so many others: where it is none of them, and where it is one."""
    return _entropy(n, 1, others, n - others - 1), _entropy(n, 1, others - 1, n - others)


def _entropy(n: int, *counts: int) -> float:
    return -sum(count / n * float(np.log2(count / n)) for count in counts if count > 0)

"""Ranges that move from run to run: a server that lies about totals has columns clipped, or cut, at edges it chose.

Each answer by itself is harmless. But a column clipped at one edge, less the same column clipped at the next, is 0 in
all rows that do not lie beyond: with one row there, the difference of two answers is that row. In FMLFS the edges cut a
column in two; a row that is alone on one side is told from all others, and runs with other edges tell where it lies.
"""

from collections.abc import Callable

import numpy as np
from benchmarks.privacy.attacks.gram import gram_of

from attacks.chosen_requests import RefusedError
from fedsieve.arrays import Bool, Float, Int
from fedsieve.messages import Refusal, Reply, Request, Scaling
from fedsieve.messages.columns import Bins, Columns, square
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.histograms import AskHistograms
from fedsieve.messages.information import AskInformation

MANY = 10**6  # rows that the server makes up: beside them no site's own rows are more than a tail
EDGES = np.linspace(-4, 4, 33)  # as many as a site answers about

AskInRun = Callable[[Request, str], Reply]


def answered(ask: AskInRun, request: Request, run: str) -> Reply:
    """The reply; a refusal ends the attack."""
    reply = ask(request, run)
    if isinstance(reply, Refusal):
        raise RefusedError(reply.reason)
    return reply


def bins_for(columns: Columns) -> Bins:
    """Narrow ones, alike for all columns."""
    return Bins.of([EDGES] * len(columns.features))


def ranges_between(bins: Bins, own: Int, low: Int, high: Int) -> Scaling:
    """Ranges from one edge to another, by their numbers, that follow from a total which holds the site's own counts."""
    parts = [part.copy() for part in bins.split(own)]
    for part, first, last in zip(parts, low + 1, high, strict=True):
        part[[first, last]] += MANY
    return Scaling.robust(bins, np.concatenate(parts))


def lone_edge(counts: Int) -> int:
    """The lowest edge that one value alone lies beyond."""
    beyond = counts.sum() - np.cumsum(counts)[:-1]
    return int(np.flatnonzero(beyond == 1)[0])


def row_beyond_an_edge(ask: AskInRun, columns: Columns) -> Float:
    """Sieve, two runs: the values, in all columns but the first, of the row that is alone beyond an edge of that."""
    bins, d = bins_for(columns), len(columns.features)
    own = answered(ask, AskHistograms(columns, bins), "first").counts
    edge = lone_edge(bins.split(own)[0])
    seen = []
    for run, last in (("first", edge), ("second", edge + 1)):
        answered(ask, AskHistograms(columns, bins), run)
        high = np.append(last, np.full(d - 1, len(EDGES) - 1))
        request = AskCovariances(columns, ranges_between(bins, own, np.zeros(d, dtype=int), high))
        seen.append(gram_of(request, answered(ask, request, run)).products)
    line = (seen[1] - seen[0])[1]
    row: Float = line[2:] / line[0]
    return row


def row_by_halving(ask: AskInRun, columns: Columns, labels: tuple[str, ...]) -> tuple[Float, Bool]:
    """FMLFS in two bins, a run per step: where the row that is alone beyond an edge of the first column lies in others.

    And which labels it has, which are taken to be rarer than not.
    """
    bins, d = bins_for(columns), len(columns.features)
    own = answered(ask, AskHistograms(columns, bins), "step 1").counts
    n = int(bins.split(own)[0].sum())
    below = np.array([np.cumsum(part)[:-1] for part in bins.split(own)])  # values below each edge
    left, right = np.zeros(d, dtype=int), np.full(d, len(EDGES) - 1)
    for step in range(1, int(np.log2(right[0])) + 1):
        at = (left + right) // 2
        at[0] = lone_edge(bins.split(own)[0])
        half = np.minimum(at, len(EDGES) - 1 - at)
        run = f"step {step}"
        answered(ask, AskHistograms(columns, bins), run)
        request = AskInformation(columns, labels, ranges_between(bins, own, at - half, at + half), 2)
        reply = answered(ask, request, run)
        apart = square(reply.apart, d, 1)[0]
        above = [_is_among(n, n - int(below[g, at[g]]), float(apart[g])) for g in range(d)]
        left, right = np.where(above, at, left), np.where(above, right, at)
    return (EDGES[left] + EDGES[right])[1:] / 2, np.array([_has_label(n, float(told)) for told in reply.relevance[0]])


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

"""Tables that an honest client would answer with a given reply: who can show one has shown that no rule can tell.

Each function returns a table for `Client`, or `None` where it finds none. Whether the client's reply is the given one
is for `same` to say.
"""

import numpy as np

from fedsieve import messages as m
from fedsieve.messages.relation_matrices import chain_positions
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from protocol.table_search import of_pair_sums, of_products


def certificate(request: m.Request, reply: m.Reply, tables: list[np.ndarray]) -> np.ndarray | None:
    """A table that answers `request` with `reply`, found from scratch or near one of `tables`; checked."""
    features = asked_columns(request).features
    for table in (found for start in tables for found in (start, FINDERS[type(reply)](request, reply, start))):
        if table is not None and same(Client(ArrayTable(features, table)).answer(request), reply):
            return table
    return None


def same(first: object, second: object, rtol: float = 1e-6) -> bool:
    """Equal up to the rounding that the kernels' whole-number degrees bring along."""
    if type(first) is not type(second):
        return False
    mine, other = vars(first), vars(second)
    for name, value in mine.items():
        if not isinstance(value, np.ndarray):
            equal = value == other[name]
        else:
            scale = np.abs(value[np.isfinite(value)]).max(initial=1)
            equal = value.shape == other[name].shape and np.allclose(value, other[name], rtol=rtol, atol=1e-9 * scale)
        if not equal:
            return False
    return True


def of_ranges_and_moments(_request: m.AskRangesAndMoments, reply: m.RangesAndMoments, _start: np.ndarray) -> np.ndarray:
    """A low, a high, and others between that have the mean and spread which are left."""
    X = np.full((reply.n_rows, len(reply.features)), np.nan)
    for p, (low, high, count) in enumerate(zip(reply.low, reply.high, reply.count, strict=True)):
        X[: min(count, 2), p] = [low, high][:count]
        if count > 2:
            rest, total = count - 2, count * reply.mean[p] - 1
            squares = reply.m2[p] + count * reply.mean[p] ** 2 - 1
            between = _spread_out(rest, total / rest, max(squares - total**2 / rest, 0.0)) if low < high else 0.0
            X[2:count, p] = low + between * (high - low)
    return X


def of_moments(request: m.AskMoments, reply: m.Moments, _start: np.ndarray) -> np.ndarray:
    """Between all values equal (no spread) and ones, zeros and a rest (most spread) lies every spread."""
    X = np.full((reply.n_rows, len(reply.features)), np.nan)
    n_clipped = reply.n_clipped
    for p, (count, mean, m2) in enumerate(zip(reply.count, reply.mean, reply.m2, strict=True)):
        low, high = request.scaling.low[p], request.scaling.high[p]
        if reply.features[p] in request.columns.nominal:
            X[:count, p] = mean
            X[: min(count, 2), p] += np.array([1, -1])[:count] * np.sqrt(m2 / 2)
            continue
        ends = _with_ends(count, mean, m2, min(n_clipped, count))
        n_clipped -= ends[1]
        X[:count, p] = low + ends[0] * (high - low)
        X[: ends[1], p] += np.where(ends[0][: ends[1]] > 0.5, 1.0, -1.0) * max(high - low, 1.0)
    return X


def _with_ends(count: int, mean: float, m2: float, wanted: int) -> tuple[np.ndarray, int]:
    """Values of this mean and spread, of which up to `wanted` (tried: that many, or none) are 0 or 1 and come first."""
    for n_ones in range(wanted + 1):
        rest = count - wanted
        total, squares = count * mean - n_ones, m2 + count * mean**2 - n_ones
        if rest > 0 and 0 <= total <= rest and squares >= total**2 / rest:
            ends = np.repeat([1.0, 0.0], [n_ones, wanted - n_ones])
            return np.concatenate([ends, _spread_out(rest, total / rest, squares - total**2 / rest)]), wanted
    return _spread_out(count, mean, m2), 0


def _spread_out(count: int, mean: float, m2: float) -> np.ndarray:
    widest = np.clip(count * mean - np.arange(count), 0.0, 1.0)
    most = float(((widest - mean) ** 2).sum())
    return np.clip(mean + (widest - mean) * (min(np.sqrt(m2 / most), 1.0) if most > 0 else 0.0), 0.0, 1.0)


def of_relations(request: m.AskRelations, reply: m.Relations, start: np.ndarray) -> np.ndarray | None:
    """The values that the related rows fix, chain after chain, as far apart as fits; unchanged columns stay."""
    spec = request.relation
    honest = Client(ArrayTable(spec.columns.features, start)).answer(request)
    X = np.empty((reply.n_rows, len(reply.features)))
    for p, (name, matrix) in enumerate(zip(reply.features, reply.values, strict=True)):
        if isinstance(honest, m.Relations) and np.array_equal(honest.values[p : p + 1], matrix[None]):
            X[:, p] = start[:, p]
            continue
        nominal, may_miss = name in spec.columns.nominal, spec.columns.missing == "unrelated"
        chains = chain_positions(matrix > 0, 1.0 - matrix)
        if chains is None:
            return None
        kept = [chain for chain in chains if len(chain[0]) > 1 or not may_miss]
        reach = float(spec.reach()[p])
        spare = 1.0 - sum(np.ptp(place) for _, place in kept) - reach * (len(kept) - 1)
        gap = 1.0 if nominal else reach + max(spare, 0.0) / max(len(kept) - 1, 1)
        column, edge = np.full(reply.n_rows, np.nan), 0.0
        for rows, place in kept:
            column[rows] = edge + place - place.min()
            edge += np.ptp(place) + gap
        low, high = spec.scaling.low[p], spec.scaling.high[p]
        X[:, p] = column if nominal else low + np.clip(column, 0.0, 1.0) * (high - low)
    return X


FINDERS = {
    m.RangesAndMoments: of_ranges_and_moments,
    m.Moments: of_moments,
    m.Relations: of_relations,
    m.PairSums: of_pair_sums,
    m.Products: of_products,
}


def asked_columns(request: m.Request) -> m.Columns:
    """The columns that a request is about, its own or its relation's."""
    return getattr(request, "relation", request).columns

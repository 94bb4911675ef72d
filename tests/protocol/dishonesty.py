"""Well-formed lies: what a dishonest site could send instead of its honest reply, each under its name.

Ranges, moments and relations are changed by any amount: their rules let through what some table has, and nothing else.
Sums and products are changed by a little or by a lot. Between lies a band where it is not known how to tell: which pair
sums some table has is a question about cuts for which no fast answer is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fedsieve import messages as m
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from protocol.certificates import asked_columns
from protocol.federation import WIRES, drive, labeled, sites
from strategies import Federation

ARRAYS = {
    m.RangesAndMoments: ("low", "high", "mean", "m2"),
    m.Moments: ("mean", "m2"),
    m.Relations: ("values",),
    m.PairSums: ("upper",),
    m.Products: ("values",),
}
NOT_FINITE = (np.nan, np.inf, -np.inf)


@dataclass(frozen=True, eq=False)
class Situation:
    """A question, the honest reply of one site, and what a liar has at hand: another site's and an older reply."""

    request: m.Request
    honest: m.Reply
    other: m.Reply
    older: m.Reply
    known: m.Known
    tables: list[np.ndarray]  # of the site, of the other, of the site long ago; in the question's columns


def situations(case: Federation, wire: str, **parameters) -> list[Situation]:
    """Every question of a run, as site-1 gets it; site-0 is the other one, and long ago the values were others."""
    method = SSFMLFSMethod(case.features, wire=wire, **parameters)
    _, asked = drive(method, labeled(case), sites(case))
    mine, theirs = case.clients["site-1"], case.clients["site-0"]
    ago = np.roll(mine, 1, axis=0) * 0.9 + 0.1 * mine
    answering = [Client(ArrayTable(case.features, X)) for X in (mine, theirs, ago)]
    found, n_rows, spec = [], None, None
    for question in asked:
        if "site-1" not in question.clients:
            continue
        request = question.request
        replies = [client.answer(request) for client in answering]
        if isinstance(request, m.AskProducts):
            spec = request.relation or spec
            request = replace(request, relation=spec)  # the same question, for who has not heard the first
        place = [case.features.index(name) for name in asked_columns(request).features]
        known = m.Known(n_rows)
        found.append(Situation(request, *replies, known, [X[:, place] for X in (mine, theirs, ago)]))
        n_rows = len(mine)
    return found


def all_situations(case: Federation, **parameters) -> list[Situation]:
    """Those of every wire form; and moments by themselves, in ranges that hold all values, so that none is clipped."""
    declared = dict.fromkeys(case.features, (-15.0, 15.0))
    second = situations(case, "statistics", ranges=declared, **parameters)[0]
    scaling = replace(second.request.scaling, kind="federated")
    moments = replace(second, request=replace(second.request, scaling=scaling))
    return [*(found for wire in WIRES for found in situations(case, wire, **parameters)), moments]


def lie(s: Situation, name: str, rng: np.random.Generator) -> m.Reply:
    """The reply of a site that lies in the named way."""
    return LIES[name](s, rng)


def _with(s: Situation, rng: np.random.Generator, change: Callable[[np.ndarray], np.ndarray]) -> m.Reply:
    name = str(rng.choice(ARRAYS[type(s.honest)]))
    return replace(s.honest, **{name: change(getattr(s.honest, name).copy())})


def _entry(s: Situation, rng: np.random.Generator, change: Callable[[float], float]) -> m.Reply:
    def one(array: np.ndarray) -> np.ndarray:
        place = tuple(int(rng.integers(size)) for size in array.shape)
        array[place] = change(float(array[place]))
        if isinstance(s.honest, m.Relations):
            array[place[0], place[2], place[1]] = array[place]  # a liar knows that it is symmetric
        return array

    return _with(s, rng, one)


def _factor(s: Situation, rng: np.random.Generator) -> float:
    if not isinstance(s.honest, m.PairSums | m.Products):
        return float(rng.uniform(0.1, 10))
    little, lot = rng.uniform(0.98, 1.02), rng.uniform(6, 20) ** rng.choice([-1, 1])
    return float(rng.choice([little, lot]))


def _swapped(s: Situation, rng: np.random.Generator) -> m.Reply:
    """Two features change places in every array, as if the site had mixed up its columns."""
    d = len(s.honest.values) if isinstance(s.honest, m.Products) else len(s.honest.features)
    order = np.arange(d)
    p, b = rng.choice(d, 2, replace=False)
    order[[p, b]] = order[[b, p]]
    if isinstance(s.honest, m.PairSums):
        matrix = s.honest.matrix()[np.ix_(order, order)]
        return m.PairSums.of(s.honest.n_rows, s.honest.features, matrix)
    arrays = {k: v[order] for k, v in vars(s.honest).items() if isinstance(v, np.ndarray)}
    return replace(s.honest, **arrays)


LIES: dict[str, Callable[[Situation, np.random.Generator], m.Reply]] = {
    "scaled": lambda s, rng: _with(s, rng, lambda x: x * _factor(s, rng)),
    "sign flipped": lambda s, rng: _with(s, rng, np.negative),
    "one entry changed": lambda s, rng: _entry(s, rng, lambda x: x * _factor(s, rng)),
    "one entry off by a little": lambda s, rng: _entry(s, rng, lambda x: x + rng.choice([-1, 1]) * 1e-3 * max(1.0, x)),
    "one entry not finite": lambda s, rng: _entry(s, rng, lambda _: float(rng.choice(NOT_FINITE))),
    "noise on all": lambda s, rng: _with(s, rng, lambda x: x + rng.normal(size=x.shape) * 10 ** rng.uniform(-4, 0)),
    "all zero": lambda s, rng: _with(s, rng, np.zeros_like),
    "another site's": lambda s, _: s.other,
    "older": lambda s, _: s.older,
    "two features swapped": _swapped,
    "wrong number of rows": lambda s, rng: replace(s.honest, n_rows=s.honest.n_rows + int(rng.integers(1, 9))),
}


def named_lies(s: Situation) -> list[str]:
    """The lies that a reply of this kind can tell."""
    counts = m.Moments | m.RangesAndMoments
    only = {"more clipped": m.Moments, "fewer present": counts, "one row unrelated": m.Relations}
    return [name for name in LIES if name not in only or isinstance(s.honest, only[name])]


def _unrelated(s: Situation, rng: np.random.Generator) -> m.Reply:
    values = s.honest.values.copy()
    p, i = rng.integers(values.shape[0]), rng.integers(values.shape[1])
    values[p, i, :] = values[p, :, i] = 0.0
    values[p, i, i] = 1.0
    return replace(s.honest, values=values)


LIES["more clipped"] = lambda s, rng: replace(s.honest, n_clipped=int(rng.choice([-1, 1, s.honest.count.sum() + 1])))
LIES["fewer present"] = lambda s, rng: replace(
    s.honest, count=s.honest.count - rng.integers(0, 2, s.honest.count.shape)
)
LIES["one row unrelated"] = _unrelated

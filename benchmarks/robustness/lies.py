"""Dishonest replies with a right digest: refused by a rule, or shown to be what some honest table answers."""

import re
from collections import Counter
from functools import cache

import numpy as np

from fedsieve.transport.codec import decode, encode
from protocol.certificates import certificate, same
from protocol.dishonesty import Situation, all_situations, lie, named_lies
from strategies import Federation

N_ROWS, N_FEATURES, N_PLANS = 16, 4, 6
CERTIFIED = "indistinguishable: a table that answers so was built"
NEITHER = "ACCEPTED WITHOUT A TABLE"


def told(n: int, seed: int) -> dict[str, Counter[str]]:
    """What became of n dishonest replies, by kind of reply."""
    rng = np.random.default_rng(seed)
    found: dict[str, Counter[str]] = {}
    for i in range(n):
        by_kind = _situations(int(rng.integers(N_PLANS)))
        kind = list(by_kind)[i % len(by_kind)]
        situation = by_kind[kind][rng.integers(len(by_kind[kind]))]
        found.setdefault(kind, Counter())[_fate(situation, rng)] += 1
    return found


def _fate(s: Situation, rng: np.random.Generator) -> str:
    try:
        reply = s.honest
        while same(reply, s.honest, rtol=1e-12):  # a lie may come out as the truth: draw another
            reply = decode(encode(lie(s, str(rng.choice(named_lies(s))), rng)))
        reason = s.request.why_refused(reply, s.known)
        if reason:
            return f"refused: {_rule(reason)}"
        return CERTIFIED if certificate(s.request, reply, s.tables) is not None else NEITHER
    except Exception as error:
        return f"CRASHED: {type(error).__name__}: {error}"


def _rule(reason: str) -> str:
    """The reason without the numbers and names of this case."""
    rule = re.sub(r"\[[^]]*\]", "[#, #]", reason.split("; ")[0].split(". ")[0]).rstrip(".")
    return re.sub(r"\b\d[\d.e+]*|'[^']*'", "#", rule)


@cache
def _situations(plan: int) -> dict[str, list[Situation]]:
    rng = np.random.default_rng(plan)

    def rows(n: int) -> np.ndarray:
        X = rng.normal(size=(n, N_FEATURES)) * 3 + 1
        X[:, 1] = rng.integers(0, 5, n)
        return X

    clients = {f"site-{i}": rows(N_ROWS) for i in range(3)}
    case = Federation(clients, rows(12), rng.integers(0, 2, (12, 4)))
    options = {"relation": ("distance", "similarity")[plan % 2], "missing": ("error", "unrelated")[plan // 2 % 2]}
    by_kind: dict[str, list[Situation]] = {}
    for situation in all_situations(case, **options):
        by_kind.setdefault(type(situation.honest).__name__, []).append(situation)
    return by_kind

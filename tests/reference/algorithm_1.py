"""Algorithm 1 of the paper, line by line: two kinds of message, deviations and fuzzy similarity matrices.

The paper does not say how features come to [0, 1]; a client that sends nothing else can only use its own ranges.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import fuzzy_loops as loops
from .selection_loops import deviation, present_range, scaled_value

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Party:
    """A client with its own unlabeled rows, or the server's rows as it scales them."""

    rows: Float

    def column(self, p: int) -> list[float]:
        low, high = present_range(self.rows[:, p])
        return [scaled_value(float(value), low, high) for value in self.rows[:, p]]

    def deviations(self) -> list[float]:
        """Lines 2 and 3."""
        return [deviation(self.column(p)) for p in range(self.rows.shape[1])]

    def matrices(self, radius: list[float]) -> list[Float]:
        """Lines 8 and 9: Equation 3 with the threshold that the server sent."""
        return [loops.relation(self.column(p), radius[p], "distance") for p in range(self.rows.shape[1])]


@dataclass(eq=False)
class Result:
    """What was found, and what each client sent."""

    scores: Float
    order: list[int]
    deviations: dict[str, list[float]] = field(default_factory=dict)
    matrices: dict[str, list[Float]] = field(default_factory=dict)


def run(
    clients: Mapping[str, Float], S: Float, Y: Float, lam: float = 1.2, k: int = 3, damping: float = 0.85
) -> Result:
    parties = {name: Party(np.asarray(rows, dtype=np.float64)) for name, rows in clients.items()}
    n_features = S.shape[1]

    sent = {name: party.deviations() for name, party in parties.items()}  # 1-4: clients
    together = [sum(of[p] for of in sent.values()) / len(sent) for p in range(n_features)]  # 5-6: server
    radius = [value / lam for value in together]

    matrices = {name: party.matrices(radius) for name, party in parties.items()}  # 7-10: clients
    n_rows = sum(len(party.rows) for party in parties.values())
    whole = [np.zeros((n_rows, n_rows)) for _ in range(n_features)]  # 11-12: server, rows of others are unrelated
    start = 0
    for name, party in parties.items():
        end = start + len(party.rows)
        for p in range(n_features):
            whole[p][start:end, start:end] = matrices[name][p]
        start = end
    edges = np.zeros((n_features, n_features))
    for p in range(n_features):  # 13-20
        for b in range(n_features):
            joint = loops.joint_entropy(whole[p], whole[b])
            mutual = loops.mutual_information(whole[p], whole[b])
            edges[p, b] = joint - mutual
    server = Party(np.asarray(S, dtype=np.float64))
    table = np.array([server.column(p) for p in range(n_features)]).T
    weights = loops.dependency(table, Y, np.array(radius), k, "distance", "least", ())  # 21-25
    scores = loops.pagerank_solution(edges, weights, damping)  # 26
    return Result(scores, loops.order(scores), sent, matrices)  # 27-28

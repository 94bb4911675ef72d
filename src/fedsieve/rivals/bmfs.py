"""BMFS: rounds of a bipartite matching between features and labels."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import not_one_of
from fedsieve.measures.rounding import DECIMALS
from fedsieve.rivals.assignment import first_cheapest_assignment
from fedsieve.rivals.label_correlation import correlation_distance, is_constant
from fedsieve.rivals.supervised import SupervisedRival, scores_of_order

CONSTANT = ("last", "published")


class BMFS(SupervisedRival):
    """Each round gives every label one feature, by the cheapest matching; frequent labels' features come first.

    A. Hashemi, M. B. Dowlatshahi, H. Nezamabadi-pour: A bipartite matching-based feature selection for multi-label
    learning. International Journal of Machine Learning and Cybernetics 12, 2021.

    Fidelity: checked against the authors' code, except where it leaves things to its solver (which of several
    cheapest matchings, and fewer features than labels) or fails (constant features).

    The cost of a pair is 1 - Pearson correlation, with its sign: a feature that falls as a label rises is the worst
    for it. Among equally cheap matchings the most frequent label gets the smallest index possible, then the next.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps; None: the share of the paper's rule.
    constant : "last" ranks constant features last; "published" follows the authors' code, in which they count as
        perfectly correlated with every label and thus come first.

    Complexity: O(n d L) for the correlations, then d / L rounds of O(d L^2) each.
    """

    def __init__(self, n_features_to_select: int | None = None, *, constant: str = "last") -> None:
        super().__init__(n_features_to_select)
        self.constant = constant

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        if self.constant not in CONSTANT:
            raise not_one_of("BMFS", "constant", CONSTANT, self.constant)
        published = self.constant == "published"
        distance = correlation_distance(X, Y, undefined=0.0 if published else 1.0)
        out = np.zeros(X.shape[1], dtype=np.bool_) if published else is_constant(X)
        by_frequency = np.argsort(-Y.sum(axis=0), kind="stable")
        # Whole numbers have exact sums: equally cheap matchings are recognized as such.
        costs = np.rint(distance[:, by_frequency].T * 10.0**DECIMALS).astype(np.int64)
        remaining = np.flatnonzero(~out)
        rounds = []
        while len(remaining):
            chosen = first_cheapest_assignment(costs[:, remaining])
            chosen = chosen[chosen >= 0]
            rounds.append(remaining[chosen])
            remaining = np.delete(remaining, chosen)
        order: Int = np.concatenate([*rounds, np.flatnonzero(out)])
        return scores_of_order(order), order

"""D2F: a greedy search that weighs what a feature tells of each label against what chosen features told already."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_count
from fedsieve.measures.entropies import JointCounts, entropies, in_bits
from fedsieve.measures.scaling import equal_width_bins
from fedsieve.ordering import best_of
from fedsieve.rivals.rival import SupervisedRival, scores_of_order


class D2F(SupervisedRival):
    """Greedy selection by mutual information with the labels, less interaction with the features chosen before.

    J. Lee, D.-W. Kim: Mutual information-based multi-label feature selection using interaction information, Expert
    Systems with Applications 42(4), 2015. Fidelity: the formula, checked against published code; how many bins the
    paper took is inferred. (A MATLAB version in circulation subtracts the terms of early choices again each round.)

    A candidate f beside the chosen S scores

        J(f) = Σ_l I(f; y_l) - Σ_{s in S} Σ_l I(f; s; y_l),
        I(f; s; y) = H(f) + H(s) + H(y) - H(f,s) - H(f,y) - H(s,y) + H(f,s,y),

    in bits. The best one joins S until no feature is left; `scores_` are the places in that order. The last sum may be
    negative: two features that tell a label only together are worth more than each alone.

    `n_bins` is into how many intervals of equal width a feature is cut; 0/1 features stay as they are.
    Time O(n_rows n_features² n_labels), memory O(n_rows n_features + n_features n_labels), both times the bins.
    """

    def __init__(self, n_features_to_select: float | None = None, *, n_bins: int = 2) -> None:
        super().__init__(n_features_to_select)
        self.n_bins = n_bins

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_count("D2F", "n_bins", self.n_bins, 2)
        order = greedy_order(equal_width_bins(X, self.n_bins), Y)
        return scores_of_order(order), order


def greedy_order(F: Int, Y: Float) -> Int:
    """All columns of F in the order of the greedy search."""
    n_features, n_labels = F.shape[1], Y.shape[1]
    counts = JointCounts(F, np.hstack([Y, np.zeros((len(Y), 1))]))  # beside the constant: what features do alone
    alone, with_labels = _alone_and_summed(counts.entropies())
    labels_alone = entropies(Y).sum()
    score = n_labels * alone + labels_alone - with_labels  # Σ_l I(f; y_l)
    remaining = np.ones(n_features, dtype=bool)
    order = np.empty(n_features, dtype=np.int64)
    for place in range(n_features):
        chosen = order[place] = best_of(remaining, in_bits(score))
        remaining[chosen] = False
        f = np.flatnonzero(remaining)
        if len(f):
            pairs, triples = _alone_and_summed(counts.entropies_with(F[:, chosen], f))
            # Σ_l I(f; s; y_l), of which only the pairs and triples are new.
            score[f] -= n_labels * (alone[f] + alone[chosen] - pairs) + labels_alone
            score[f] += with_labels[f] + with_labels[chosen] - triples
    return order


def _alone_and_summed(joint: Float) -> tuple[Float, Float]:
    """Entropies beside the constant, and summed over the labels."""
    return joint[:, -1], joint[:, :-1].sum(axis=1)

"""MGFS: PageRank on the graph of features that relate differently to the labels."""

import numpy as np
from scipy.spatial.distance import cdist

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice
from fedsieve.measures.correlation import pearson_distance
from fedsieve.measures.scaling import is_constant
from fedsieve.ordering import ranked
from fedsieve.rivals.pagerank import matlab_pagerank
from fedsieve.rivals.rival import SupervisedRival

CONSTANT = ("last", "published")


class MGFS(SupervisedRival):
    """Features are nodes, joined by how far apart their correlations with the labels are; PageRank ranks them.

    A. Hashemi, M. B. Dowlatshahi, H. Nezamabadi-pour: MGFS: A multi-label graph-based feature selection algorithm via
    PageRank centrality. Expert Systems with Applications 142, 2020.

    Fidelity: checked against the authors' code, with MATLAB's PageRank (damping 0.85, tolerance 1e-4).

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    constant : "last" ranks constant features last; "published" follows the authors' code, in which they count as
        perfectly correlated with every label.

    Complexity: O(n d L + d^2 L).
    """

    def __init__(self, n_features_to_select: float | None = None, *, constant: str = "last") -> None:
        super().__init__(n_features_to_select)
        self.constant = constant

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_choice("MGFS", "constant", self.constant, CONSTANT)
        published = self.constant == "published"
        distance = pearson_distance(X, Y, undefined=0.0 if published else 1.0)
        nodes = np.arange(X.shape[1]) if published else np.flatnonzero(~is_constant(X))
        scores = np.zeros(X.shape[1])
        if len(nodes):
            # Pair by pair, not by one product: equal features must be at distance 0, which is no edge.
            scores[nodes] = matlab_pagerank(cdist(distance[nodes], distance[nodes]))
        return scores, ranked(scores)

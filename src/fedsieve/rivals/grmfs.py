"""GRMFS: a graph of features whose edges weigh association, interaction and redundancy, ranked by PageRank."""

from typing import Literal, get_args

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_choice, check_count, check_number
from fedsieve.kernels import different_rows, relevance, soft_decisions
from fedsieve.kernels.feature_graph import edge_weights
from fedsieve.measures.scaling import unit_scaled
from fedsieve.ordering import ranked, rounded
from fedsieve.rivals.pagerank import matlab_pagerank, personal_pagerank
from fedsieve.rivals.rival import SupervisedRival

Mode = Literal["paper", "code"]
MODES: tuple[str, ...] = get_args(Mode)
TOLERANCES = {"paper": 1e-9, "code": 1e-4}
EDGE_DECIMALS, SUM_DECIMALS = 10, 9  # signs of edges and of their sums must not hang on the last digits


class GRMFS(SupervisedRival):
    """Graph-based robust multilabel feature selection with fuzzy dependency and feature interaction.

    T. Yin, H. Chen, Z. Yuan, J. Wan, K. Liu, S.-J. Horng, T. Li: A Robust Multilabel Feature Selection Approach Based
    on Graph Structure Considering Fuzzy Dependency and Feature Interaction. IEEE Trans. Fuzzy Systems 31(12), 2023.

    Fidelity: `mode="code"` was checked against the published code, which departs from its text twice: it thresholds
    the similarity of two values instead of their distance, and the features' own weights only start the PageRank.
    `mode="paper"` follows the text in these two points: the distance is thresholded, and the weights are the
    teleport term. All else is shared, and follows the code.

    Parameters: `lam` divides each feature's deviation to give its radius; `n_neighbors` rows of different labels are
    looked at per row; `damping`, `tol` (`None`: 1e-9 in mode "paper", 1e-4 in mode "code") and `max_iter` belong to
    the PageRank, which after `max_iter` sweeps keeps what it has. Features are scaled to [0, 1] inside.

    Takes O(n_samples² n_features²) time. If all features are 0/1, O(n_samples n_features²) as long as few rows share
    their labels. The memory is that of a few (n_features, n_features) matrices; no relation is ever formed.
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        mode: str = "paper",
        lam: float = 1.2,
        n_neighbors: int = 3,
        damping: float = 0.85,
        tol: float | None = None,
        max_iter: int = 100,
    ) -> None:
        super().__init__(n_features_to_select)
        self.mode = mode
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.damping = damping
        self.tol = tol
        self.max_iter = max_iter

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        self._check()
        table = unit_scaled(X)
        radius = table.std(axis=0, ddof=1) / self.lam
        kind = "distance" if self.mode == "paper" else "similarity"
        decisions = rounded(soft_decisions(table, Y, radius, kind), 12)  # equal rows stay equal
        weights = self._dependency(table, decisions, radius, kind)
        edges = positive_edges(edge_weights(table, decisions, radius, kind))
        tol = TOLERANCES[self.mode] if self.tol is None else self.tol
        if self.mode == "paper":
            scores = personal_pagerank(edges, weights, damping=self.damping, tol=tol, max_iter=self.max_iter)
        else:
            scores = matlab_pagerank(edges, weights, damping=self.damping, tol=tol, max_iter=self.max_iter)
        return scores, ranked(scores)

    def _dependency(self, table: Float, decisions: Float, radius: Float, kind: str) -> Float:
        """Mean of 1 - R_f over rows and their different rows; where rows are few, still divided by `n_neighbors`."""
        n_found = min(self.n_neighbors, len(table) - 1)
        different = different_rows(decisions, n_found, "nonnegative")
        return relevance(table, different, radius, kind) * (n_found / self.n_neighbors)

    def _check(self) -> None:
        check_choice("GRMFS", "mode", self.mode, MODES)
        check_number("GRMFS", "lam", self.lam, "a number above 0 and finite", lambda value: 0 < value < np.inf)
        check_count("GRMFS", "n_neighbors", self.n_neighbors)
        check_number("GRMFS", "damping", self.damping, "a number in [0, 1)", lambda value: 0 <= value < 1)
        if self.tol is not None:
            check_number("GRMFS", "tol", self.tol, "a number of at least 0, or None", lambda value: value >= 0)
        check_count("GRMFS", "max_iter", self.max_iter)


def positive_edges(weights: Float) -> Float:
    """The graph's edges as the published code prepares them: non-negative, (n_features, n_features).

    If a column has no positive entry, all columns are scaled to [0, 1]. Then each is divided by its sum, and positive
    entries remain. A column with a negative sum thereby keeps the edges that were negative.

    >>> positive_edges(np.array([[0.0, 2.0, -1.0], [3.0, 0.0, 3.0], [-1.0, 6.0, 0.0]]))
    array([[0.  , 0.25, 0.  ],
           [1.5 , 0.  , 1.5 ],
           [0.  , 0.75, 0.  ]])
    """
    edges = rounded(weights, EDGE_DECIMALS)
    if not (edges > 0).any(axis=0).all():
        edges = unit_scaled(edges)
        np.fill_diagonal(edges, 0.0)
    sums = rounded(edges.sum(axis=0), SUM_DECIMALS)
    shares: Float = edges / np.where(sums == 0, 1.0, sums)
    return np.maximum(shares, 0.0)

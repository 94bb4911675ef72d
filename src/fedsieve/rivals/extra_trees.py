"""What randomized trees split by, to measure the others by: Sieve's own trees, without anything else of it."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fedsieve.arrays import Float, Int
from fedsieve.checks import check_count
from fedsieve.kernels import tree_importances
from fedsieve.ordering import ranked
from fedsieve.rivals.rival import SupervisedRival


class ExtraTrees(SupervisedRival):
    """Features by the decrease of the labels' Gini impurity that splits on them bring in extremely randomized trees.

    P. Geurts, D. Ernst, L. Wehenkel: Extremely randomized trees. Machine Learning 63, 2006.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    n_trees : how many trees.
    random_state : seed, or numpy's RandomState; None draws anew each time.

    Complexity: O(n_trees √d n (log n + L)).
    """

    def __init__(self, n_features_to_select: float | None = None, *, n_trees: int = 200, random_state: Any = 0) -> None:
        super().__init__(n_features_to_select)
        self.n_trees = n_trees
        self.random_state = random_state

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_count("ExtraTrees", "n_trees", self.n_trees)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        scores = tree_importances(X, Y, int(self.n_trees), int(seed), most_rows=len(X))
        return scores, ranked(scores)

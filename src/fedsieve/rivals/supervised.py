"""What the supervised rivals share: every row labeled, a full ranking of the features as the result."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError
from fedsieve.rivals.rival import Rival


class SupervisedRival(Rival):
    """A selector that ranks from labeled rows in one place; a subclass says how in `_rank`.

    `n_features_to_select` is how many features `transform` keeps; `None` takes the share of the paper's rule.
    After `fit`: `scores_` (larger is better), `order_` (indices, best first), `ranking_` (1 is best), `support_`.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X (n_samples, n_features) by labels y: 0/1 (n_samples, n_labels), or classes."""
        rows, labels, labeled = self._read(X, y, "It is a supervised method.")
        if not labeled.all():
            raise DataError(
                f"{type(self).__name__}: {int((~labeled).sum())} rows of y are -1 (unlabeled). It is a supervised "
                "method: give it the labeled rows only."
            )
        k = self._n_kept()
        scores, order = self._rank(rows, labels)
        self._keep_ranking(scores, order, k)
        return self

    @abstractmethod
    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        """Scores (n_features,), larger is better, and the order of all features, best first.

        X is dense and unscaled, Y is 0/1 (n_samples, n_labels) as float64. Ties go to the smaller index.
        """


def scores_of_order(order: Int) -> Float:
    """Scores for a method that only has an order: 1 for the best, falling evenly to 1 / n_features for the last.

    >>> scores_of_order(np.array([2, 0, 1]))
    array([0.66666667, 0.33333333, 1.        ])
    """
    n_features = len(order)
    scores = np.empty(n_features)
    scores[order] = np.arange(n_features, 0, -1) / n_features
    return scores

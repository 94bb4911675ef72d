"""What the supervised rivals share: every row labelled, a full ranking of the features as the result."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float, Int, dense
from fedsieve.errors import DataError, ParameterError
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.ranking_selector import RankingSelector


class SupervisedRival(RankingSelector):
    """A selector that ranks from labelled rows in one place; a subclass says how in `_rank`.

    `n_features_to_select` is how many features `transform` keeps; `None` takes the share of the paper's rule.
    After `fit`: `scores_` (larger is better), `order_` (indices, best first), `ranking_` (1 is best), `support_`.
    """

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features of X (n_samples, n_features) by labels y: 0/1 (n_samples, n_labels), or classes."""
        owner = type(self).__name__
        if y is None:
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. It is a supervised method.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        labels, labelled = read_labels(y, owner)
        if len(labels) != X.shape[0]:
            raise DataError(f"{owner}: X has {X.shape[0]} rows and y {len(labels)}; they must be the same rows.")
        if not labelled.all():
            raise DataError(
                f"{owner}: {int((~labelled).sum())} rows of y are -1 (unlabelled). It is a supervised method: "
                "give it the labelled rows only."
            )
        n_features = self.n_features_in_
        k = default_n_features(n_features) if self.n_features_to_select is None else self.n_features_to_select
        if not 1 <= k <= n_features:
            raise ParameterError(f"{owner}: n_features_to_select must be in [1, n_features={n_features}]; got {k}.")
        scores, order = self._rank(dense(X), labels)
        self._keep_ranking(scores, order, k)
        return self

    @abstractmethod
    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        """Scores (n_features,), larger is better, and the order of all features, best first.

        X is dense and unscaled, Y is 0/1 (n_samples, n_labels) as float64. Ties go to the smaller index.
        """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def scores_of_order(order: Int) -> Float:
    """Scores for a method that only has an order: 1 for the best, falling evenly to 1 / n_features for the last.

    >>> scores_of_order(np.array([2, 0, 1]))
    array([0.66666667, 0.33333333, 1.        ])
    """
    n_features = len(order)
    scores = np.empty(n_features)
    scores[order] = np.arange(n_features, 0, -1) / n_features
    return scores

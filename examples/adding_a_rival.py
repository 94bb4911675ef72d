"""A method of your own
====================

A method of your own beside ours: ranks by variance, in scikit-learn's manner, compared on the same rows.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fedsieve import MLkNN, Sieve, datasets, metrics, partition
from fedsieve.ordering import order_by_score
from fedsieve.selectors.ranking import RankingSelector


class Variance(RankingSelector):
    """The features that vary most; it does not look at labels."""

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Rank by variance."""
        X = validate_data(self, X)
        scores = X.var(axis=0)
        self._keep_ranking(scores, order_by_score(scores), self._n_kept())
        return self


digits = datasets.load_digits()
train, test = partition.labeled_split(digits.Y, 0.2, 0)
for selector in (Variance(10), Sieve(10, n_trees=50, n_bootstraps=0)):
    chosen = selector.fit(digits.X[train], digits.Y[train]).get_support(indices=True)
    model = MLkNN().fit(digits.X[np.ix_(train, chosen)], digits.Y[train])
    precision = metrics.average_precision(digits.Y[test], model.predict_proba(digits.X[np.ix_(test, chosen)]))
    print(f"{type(selector).__name__}: average precision {precision:.3f} with 10 of 64 pixels")

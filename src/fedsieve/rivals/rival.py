"""What the rivals share: reading of rows and labels, how many features are kept, what scikit-learn is told."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import plain
from fedsieve.errors import DataError
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.ranking import RankingSelector, refuse_weights
from fedsieve.text import counted
from fedsieve.values import dense


class Rival(RankingSelector):
    """A selector that ranks; `SupervisedRival`, `SemiSupervisedRival` and `FederatedRival` say from which labels.

    `n_features_to_select` is how many features `transform` keeps, or a share; `None` takes that of the paper's rule.
    """

    def __init__(self, n_features_to_select: float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    @contextmanager
    def _plain_parameters(self) -> Iterator[None]:
        """While it lasts, the parameters are Python's own values, which formulas are made for; afterwards as given."""
        given = self.get_params(deep=False)
        self.set_params(**plain(given))
        try:
            yield
        finally:
            self.set_params(**given)

    def _read(self, X: Any, y: Any, if_none: str) -> tuple[Float, Float, Bool]:
        """The dense rows, their labels and which of them are labeled; `if_none` ends the error for a missing y."""
        owner = type(self).__name__
        if y is None:
            raise DataError(f"{owner}: requires y to be passed, but the target y is None. {if_none}")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        labels, labeled = read_labels(y, owner)
        if len(labels) != X.shape[0]:
            raise DataError(f"{owner}: X has {X.shape[0]} rows and y {len(labels)}; they must be the same rows.")
        return dense(X), labels, labeled

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class SupervisedRival(Rival):
    """A selector that ranks from labeled rows in one place; a subclass says how in `_rank`.

    `n_features_to_select` is how many features `transform` keeps, or a share; `None` takes that of the paper's rule.
    After `fit`: `scores_` (larger is better), `order_` (indices, best first), `ranking_` (1 is best), `support_`.
    """

    def fit(self, X: Any, y: Any = None, **others: Any) -> Self:
        """Rank the features of X (n_samples, n_features) by labels y: 0/1 (n_samples, n_labels), or classes."""
        refuse_weights(self, others)
        rows, labels, labeled = self._read(X, y, "It is a supervised method.")
        if not labeled.all():
            raise DataError(
                f"{type(self).__name__}: {counted(int((~labeled).sum()), 'unlabeled row')} (-1) in y. It is a "
                "supervised method: give it the labeled rows only."
            )
        k = self._n_kept()
        with self._plain_parameters():
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

"""Selectors that know nothing of labels, to measure the others by: all features, random ones, those that vary most."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float
from fedsieve.ordering import order_by_score
from fedsieve.selectors.ranking import RankingSelector, refuse_weights
from fedsieve.values import dense


class _Control(RankingSelector):
    def __init__(self, n_features_to_select: float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: Any = None, **others: Any) -> Self:  # noqa: ARG002 (labels play no part)
        """Rank the features; labels, if given, are not looked at."""
        refuse_weights(self, others)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        k = self._n_kept()
        scores = self._scores(dense(X))
        self._keep_ranking(scores, order_by_score(scores), k)
        return self

    @abstractmethod
    def _scores(self, X: Float) -> Float:
        """One number per feature, larger is better."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class AllFeatures(_Control):
    """Keeps every feature, in index order, whatever `n_features_to_select` says."""

    def _n_kept(self) -> int:
        super()._n_kept()
        return int(self.n_features_in_)

    def _scores(self, X: Float) -> Float:
        return np.ones(X.shape[1])


class LargestDeviation(_Control):
    """Ranks features by their deviation after scaling to [0, 1]."""

    def _scores(self, X: Float) -> Float:
        width = np.ptp(X, axis=0)
        deviation: Float = X.std(axis=0) / np.where(width > 0, width, 1.0)
        return deviation


class RandomFeatures(_Control):
    """Ranks features at random."""

    def __init__(self, n_features_to_select: float | None = None, random_state: Any = None) -> None:
        super().__init__(n_features_to_select)
        self.random_state = random_state

    def _scores(self, X: Float) -> Float:
        draws: Float = check_random_state(self.random_state).permutation(X.shape[1]).astype(np.float64)
        return draws

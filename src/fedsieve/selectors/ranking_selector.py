"""What all selectors here share: a full order of the features, of which the best k are kept."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fedsieve.arrays import Bool, Float, Int


class RankingSelector(SelectorMixin, BaseEstimator):
    """A selector whose `fit` ends in `_keep_ranking`.

    Attributes: `scores_` per feature, `order_` (indices, best first), `ranking_` (1 is best), `support_` (mask).
    """

    def _keep_ranking(self, scores: Float, order: Int, k: int) -> None:
        self.scores_ = scores
        self.order_ = order
        self.ranking_ = np.empty_like(order)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= k

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self)
        mask: Bool = self.support_
        return mask

"""What all rivals share: reading of rows and labels, how many features are kept, and what scikit-learn is told."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Bool, Float, dense
from fedsieve.errors import DataError, ParameterError
from fedsieve.fuzzy.ranking import default_n_features
from fedsieve.selectors.labels import read_labels
from fedsieve.selectors.ranking_selector import RankingSelector


class Rival(RankingSelector):
    """A selector that ranks; `SupervisedRival`, `SemiSupervisedRival` and `FederatedRival` say from which labels.

    `n_features_to_select` is how many features `transform` keeps; `None` takes the share of the paper's rule.
    """

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

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

    def _n_kept(self) -> int:
        n_features = self.n_features_in_
        k = default_n_features(n_features) if self.n_features_to_select is None else self.n_features_to_select
        if not 1 <= k <= n_features:
            raise ParameterError(
                f"{type(self).__name__}: n_features_to_select must be in [1, n_features={n_features}]; got {k}."
            )
        return k

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

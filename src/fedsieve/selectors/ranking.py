"""What all selectors have in common: a ranking at the end of `fit`, and columns that are picked by it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import check_n_features, plain
from fedsieve.errors import DataError, ParameterError
from fedsieve.ordering import n_kept, places
from fedsieve.selectors.card import card
from fedsieve.selectors.picking import PicksColumns
from fedsieve.selectors.tables import column_names

if TYPE_CHECKING:
    from fedsieve.selectors.plots import Plots


class RankingSelector(PicksColumns, BaseEstimator):
    """A selector whose `fit` ends in `_keep_ranking`.

    Attributes: `scores_` per feature, `order_` (indices, best first), `ranking_` (1 is best), `support_` (mask).
    """

    n_features_to_select: Any

    @property
    def plot(self) -> "Plots":
        """Figures of what was found: `plot.ranking()`, `curve()`, `stability()`, `redundancy()`, `graph()`."""
        from fedsieve.selectors.plots import Plots

        return Plots(self)

    def _html_repr(self) -> str:
        """In a notebook: what was chosen, once that is known, above scikit-learn's own picture."""
        own = str(super()._html_repr())
        return card(self) + own if hasattr(self, "support_") else own

    def _n_kept(self) -> int:
        """How many features the parameters ask for."""
        n_features, wanted = int(self.n_features_in_), plain(self.n_features_to_select)
        check_n_features(type(self).__name__, wanted, n_features)
        return n_kept(wanted, n_features)

    def _keep_ranking(self, scores: Float, order: Int, k: int) -> None:
        self.scores_ = scores
        self.order_ = order
        self.ranking_ = places(order) + 1
        self.support_ = self.ranking_ <= k

    def transform(self, X: Any) -> Any:
        """X reduced to the selected features. Columns of a frame must be those of the fit, in their order."""
        try:
            return self._picked(X) if _of_polars(X) else super().transform(X)
        except ValueError as error:
            names, fitted = column_names(X), getattr(self, "feature_names_in_", None)
            if fitted is None or names is None or names == tuple(fitted) or not set(fitted) <= set(names):
                raise
            raise DataError(
                f"{error}\n{type(self).__name__}: X has all columns of the fit; pass them in their order, as "
                "X[selector.feature_names_in_]."
            ) from None

    def _picked(self, X: Any) -> Any:
        """Columns of a polars frame, kept as they are where polars is to come out: scikit-learn does so for pandas."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted == "polars":
            return self._transform(X)
        if all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in X.dtypes):
            return super().transform(X)
        cells = np.array(X.rows(), dtype=object).reshape(X.shape)  # text and dates beside numbers
        allow_nan = get_tags(self).input_tags.allow_nan
        return self._transform(check_array(cells, dtype=None, ensure_all_finite=not allow_nan))

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self)
        mask: Bool = self.support_
        return mask


def _of_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars" and column_names(X) is not None


def refuse_weights(selector: RankingSelector, others: Mapping[str, Any]) -> None:
    """Say of a method that counts every row once that it does; what else `fit` does not know, Python's way."""
    owner = type(selector).__name__
    for name, value in others.items():
        if name != "sample_weight":
            raise TypeError(f"{owner}.fit() got an unexpected keyword argument {name!r}")
        if value is not None:
            raise ParameterError(
                f"{owner}: takes no sample_weight, it counts every row once. Leave it out; Sieve takes it."
            )

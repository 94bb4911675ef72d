"""A selection from its file, as a fitted transformer: what a run decided, applied to further tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError
from fedsieve.ordering import places
from fedsieve.selection_file import JSON, pairs_of, read_selection
from fedsieve.selectors.ranking import RankingSelector
from fedsieve.selectors.tables import column_names, in_form


def load_selection(path: str | Path) -> "LoadedSelection":
    """The selection of a `selection.json`, or of the folder where one lies, as a fitted transformer.

    It may be of `fedsieve select`, of the demo, or of a federation, at the operator's or at a site's.
    """
    file = Path(path)
    file = file / JSON if file.is_dir() else file
    record = read_selection(file, whole=True)
    features = record.get("features", list(record["scores"]))  # in files of earlier versions, by their scores
    order, selected = record["order"], record["selected"]
    if sorted(features) != sorted(order) or selected != order[: len(selected)] or not (selected or "fdr" in record):
        raise DataError(f"{file}: what it selects is no beginning of an order of its features; it is damaged.")
    place = {name: index for index, name in enumerate(features)}
    numbers = record["scores"].values()
    if any(not isinstance(number, int | float) for number in numbers):
        raise DataError(f"{file}: its scores are no numbers; it is damaged. Run the selection again.")
    loaded = LoadedSelection(str(path))
    loaded.feature_names_in_ = np.array(features, dtype=object)
    loaded.n_features_in_ = len(features)
    loaded.scores_ = np.array([record["scores"][name] for name in features], dtype=np.float64)
    loaded.order_ = np.array([place[name] for name in order], dtype=np.int64)
    loaded.ranking_ = places(loaded.order_) + 1
    loaded.support_ = loaded.ranking_ <= len(selected)
    loaded.record_ = record
    return loaded


class LoadedSelection(RankingSelector):
    """A selection that `load_selection` read: fitted from the start, and never fitted anew.

    It takes whole tables, with ids, labels and other columns that played no part. In a pipeline, and in what clones one
    (cross-validation, grid search), it stays the selection that was loaded. `fit` only checks that a table has the
    features.

    Attributes
    ----------
    feature_names_in_, n_features_in_ : the features of the tables that it was found on, in their order
    scores_, order_, ranking_, support_ : as those of a fitted selector
    record_ : dict, all that the file tells: method, parameters, reasons, transcript
    rank_interval_ : ndarray of shape (n_features_in_, 2), as of a fitted Sieve; None where the file has none
    plot : figures of what the file tells
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def rank_interval_(self) -> Float | None:
        """Between which ranks each feature is in nine of ten bootstraps, where that is told."""
        low, high = self._told("rank_low"), self._told("rank_high")
        return None if low is None or high is None else np.column_stack([low, high])

    @property
    def _chance(self) -> Callable[[], Float] | None:
        band = self._told("chance")
        return None if band is None else lambda: band

    @property
    def _alike(self) -> tuple[str, Float, Int] | None:
        pairs = pairs_of(self.record_)
        if pairs is None:
            return None
        measure, names, values = pairs
        return measure, values, self.order_[: len(names)]

    def _told(self, column: str) -> Float | None:
        """A number per feature, NaN where there is none; `None` where the file has no such column."""
        if column not in self.record_["columns"]:
            return None
        return np.array([self.record_[column][name] for name in self.feature_names_in_], dtype=np.float64)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (labels play no part)
        """Check the features of X; the selection stays what was loaded."""
        validate_data(self, self._features_of(X), reset=False, skip_check_array=True)
        return self

    def transform(self, X: Any) -> Any:
        """X reduced to the selected features; those of a frame are found by name, whatever else it has."""
        return super().transform(self._features_of(X))

    def _features_of(self, X: Any) -> Any:
        """A frame with the features alone, in their order; what has no names, or lacks some, as it is."""
        names, features = column_names(X), list(self.feature_names_in_)
        return X if names is None or not set(features) <= set(names) else X[features]

    def explain(self, *, as_frame: bool = False) -> Any:
        """What the file tells of each feature, best first: one dict per feature, or a pandas DataFrame."""
        record, selected = self.record_, set(self.record_["selected"])
        told = [*record["columns"], *(["why"] if "why" in record else [])]
        rows = [
            {
                "feature": name,
                "rank": rank,
                "selected": name in selected,
                **{"score" if column == "scores" else column: record[column][name] for column in told},
            }
            for rank, name in enumerate(record["order"], start=1)
        ]
        return in_form(rows, as_frame)

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # columns are picked, not looked at
        return tags

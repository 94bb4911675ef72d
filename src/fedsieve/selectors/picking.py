"""scikit-learn's `SelectorMixin`, loaded when columns are picked: its package takes longer than its base classes."""

import sys
from abc import ABCMeta, abstractmethod
from typing import Any

from sklearn.base import TransformerMixin

from fedsieve.arrays import Bool


class PicksColumns(TransformerMixin, metaclass=ABCMeta):
    """A transformer that keeps the columns of a mask; all it does is what the methods of `SelectorMixin` do.

    Instead of deriving from it, it is registered as one of its kind as soon as both are loaded and one is used: from
    then on `isinstance(selector, SelectorMixin)` is true.
    """

    @abstractmethod
    def _get_support_mask(self) -> Bool:
        """Which columns are kept."""

    def get_support(self, indices: bool = False) -> Any:
        """The mask of the selected features; their indices where `indices` is true."""
        return _mixin().get_support(self, indices)

    def transform(self, X: Any) -> Any:
        """X reduced to the selected features."""
        return _mixin().transform(self, X)

    def _transform(self, X: Any) -> Any:
        return _mixin()._transform(self, X)

    def inverse_transform(self, X: Any) -> Any:
        """X with columns of zeros where features were left out."""
        return _mixin().inverse_transform(self, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the selected features; `input_features` are those of all columns, where `fit` was given none."""
        return _mixin().get_feature_names_out(self, input_features)


def _mixin() -> Any:
    from sklearn.feature_selection import SelectorMixin

    SelectorMixin.register(PicksColumns)
    return SelectorMixin


if "sklearn.feature_selection" in sys.modules:
    _mixin()

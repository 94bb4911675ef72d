"""The selectors as scikit-learn estimators."""

from fedsieve.selectors.ssfmlfs import SSFMLFS

__all__ = ["SSFMLFS"]

"""The selectors as scikit-learn estimators."""

from fedsieve.selectors.controls import AllFeatures, LargestDeviation, RandomFeatures
from fedsieve.selectors.loaded import LoadedSelection, load_selection
from fedsieve.selectors.sieve import Sieve
from fedsieve.selectors.ssfmlfs import SSFMLFS

__all__ = [
    "SSFMLFS",
    "AllFeatures",
    "LargestDeviation",
    "LoadedSelection",
    "RandomFeatures",
    "Sieve",
    "load_selection",
]

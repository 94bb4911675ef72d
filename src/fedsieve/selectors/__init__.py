"""The selectors as scikit-learn estimators, loaded on first use: reading labels and tables needs no scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "SSFMLFS": "ssfmlfs",
    "AllFeatures": "controls",
    "LargestDeviation": "controls",
    "LoadedSelection": "loaded",
    "RandomFeatures": "controls",
    "Sieve": "sieve",
    "load_selection": "loaded",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fedsieve.selectors' has no attribute {name!r}")
    return getattr(import_module(f"fedsieve.selectors.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""FedSieve: several sites agree on which features matter without sharing their rows.

Names are loaded on first use, so that `import fedsieve` stays light: neither scikit-learn nor numba is imported
until something needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedsieve import datasets, fuzzy, rivals
    from fedsieve.catalog import registry
    from fedsieve.datasets import partition
    from fedsieve.experiments.cross_validation import evaluate
    from fedsieve.learning import MLkNN, metrics
    from fedsieve.protocol.communication import communication_cost
    from fedsieve.rivals import FMLFS, FedCMFS
    from fedsieve.selectors import SSFMLFS, Sieve, load_selection

__version__ = "0.1.0"
__all__ = [
    "FMLFS",
    "SSFMLFS",
    "FedCMFS",
    "MLkNN",
    "Sieve",
    "__version__",
    "communication_cost",
    "datasets",
    "evaluate",
    "fuzzy",
    "load_selection",
    "metrics",
    "partition",
    "registry",
    "rivals",
]

_HOMES = {
    "FMLFS": ("fedsieve.rivals", "FMLFS"),
    "FedCMFS": ("fedsieve.rivals", "FedCMFS"),
    "MLkNN": ("fedsieve.learning", "MLkNN"),
    "SSFMLFS": ("fedsieve.selectors", "SSFMLFS"),
    "Sieve": ("fedsieve.selectors", "Sieve"),
    "communication_cost": ("fedsieve.protocol.communication", "communication_cost"),
    "datasets": ("fedsieve.datasets", None),
    "evaluate": ("fedsieve.experiments.cross_validation", "evaluate"),
    "fuzzy": ("fedsieve.fuzzy", None),
    "load_selection": ("fedsieve.selectors", "load_selection"),
    "metrics": ("fedsieve.learning.metrics", None),
    "partition": ("fedsieve.datasets.partition", None),
    "registry": ("fedsieve.catalog", "registry"),
    "rivals": ("fedsieve.rivals", None),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fedsieve' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    home = import_module(module)
    return home if attribute is None else getattr(home, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)

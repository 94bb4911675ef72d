"""Compiled and multi-threaded: the fast twins of `fuzzy`, and trees; the same to the last bit on any number of threads.

Names are loaded on first use: a site's process that only answers with ranges never pays for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedsieve.kernels.compiled import n_compiled
    from fedsieve.kernels.dependency import different_rows, relevance, soft_decisions
    from fedsieve.kernels.products import distance_product
    from fedsieve.kernels.sums import pair_sums, pair_sums_of_relations
    from fedsieve.kernels.threads import thread_count
    from fedsieve.kernels.trees import tree_importances
    from fedsieve.kernels.warming import warm_up

__all__ = [
    "different_rows",
    "distance_product",
    "n_compiled",
    "pair_sums",
    "pair_sums_of_relations",
    "relevance",
    "soft_decisions",
    "thread_count",
    "tree_importances",
    "warm_up",
]

_HOMES = {
    "different_rows": "dependency",
    "distance_product": "products",
    "n_compiled": "compiled",
    "pair_sums": "sums",
    "pair_sums_of_relations": "sums",
    "relevance": "dependency",
    "soft_decisions": "dependency",
    "thread_count": "threads",
    "tree_importances": "trees",
    "warm_up": "warming",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fedsieve.kernels' has no attribute {name!r}")
    return getattr(import_module(f"fedsieve.kernels.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

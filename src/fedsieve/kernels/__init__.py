"""Compiled, multi-threaded functions: the fast twins of `fuzzy`, trees, and the search for neighbors.

Results are the same to the last bit on any number of threads.
Names are loaded on first use: a site that only answers with ranges never pays for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedsieve.kernels.compiled import n_compiled, warm_up
    from fedsieve.kernels.copies import near_copies
    from fedsieve.kernels.dependency import different_rows, relevance, soft_decisions
    from fedsieve.kernels.lattice import reduce_lattice
    from fedsieve.kernels.sums import distance_product, pair_sums, pair_sums_of_relations
    from fedsieve.kernels.threads import thread_count
    from fedsieve.kernels.trees import tree_importances

__all__ = [
    "MAX_ROWS",
    "different_rows",
    "distance_product",
    "n_compiled",
    "near_copies",
    "pair_sums",
    "pair_sums_of_relations",
    "reduce_lattice",
    "relevance",
    "soft_decisions",
    "thread_count",
    "tree_importances",
    "warm_up",
]

MAX_ROWS = 1 << 20
"""Of one client: with more, a fixed-point sum could leave 63 bits. It is here so that checking it loads no compiler."""

_HOMES = {
    "different_rows": "dependency",
    "distance_product": "sums",
    "n_compiled": "compiled",
    "near_copies": "copies",
    "pair_sums": "sums",
    "pair_sums_of_relations": "sums",
    "reduce_lattice": "lattice",
    "relevance": "dependency",
    "soft_decisions": "dependency",
    "thread_count": "threads",
    "tree_importances": "trees",
    "warm_up": "compiled",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fedsieve.kernels' has no attribute {name!r}")
    return getattr(import_module(f"fedsieve.kernels.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Compiled, multi-threaded functions: the fast twins of `fuzzy`, trees, and the search for neighbors.

Results are the same to the last bit on any number of threads.
Names are loaded on first use: a site that only answers with ranges never pays for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedsieve.kernels.binned import counts_in_bins
    from fedsieve.kernels.compiled import is_cached, n_compiled, warm_up
    from fedsieve.kernels.copies import line_anchors, line_room, near_copies
    from fedsieve.kernels.dependency import different_rows, relevance, soft_decisions
    from fedsieve.kernels.deviations import upper_deviations
    from fedsieve.kernels.lattice import reduce_lattice
    from fedsieve.kernels.row_pair_products import product_from_rows
    from fedsieve.kernels.row_pairs import PairSample, all_pairs, pair_sample, pairs_looked_at
    from fedsieve.kernels.sums import distance_product, n_compared, pair_sums, pair_sums_of_relations
    from fedsieve.kernels.threads import thread_count
    from fedsieve.kernels.trees import tree_importances

__all__ = [
    "MAX_PAIRS",
    "MAX_ROWS",
    "USUAL_PAIRS",
    "PairSample",
    "all_pairs",
    "counts_in_bins",
    "different_rows",
    "distance_product",
    "is_cached",
    "line_anchors",
    "line_room",
    "n_compared",
    "n_compiled",
    "near_copies",
    "pair_sample",
    "pair_sums",
    "pair_sums_of_relations",
    "pairs_looked_at",
    "product_from_rows",
    "reduce_lattice",
    "relevance",
    "soft_decisions",
    "thread_count",
    "tree_importances",
    "upper_deviations",
    "warm_up",
]

MAX_ROWS = 1 << 20
"""Of one client whose pairs of rows are all compared, or counted: with more, a fixed-point sum could leave 63 bits.

A sample of up to `MAX_PAIRS` pairs stays within them, of however many rows. Both are here so that checking them loads
no compiler.
"""
MAX_PAIRS = MAX_ROWS**2 // 2 - 1
USUAL_PAIRS = 10_000_000  # of rows, above which a sample is compared unless others are agreed on

_HOMES = {
    "counts_in_bins": "binned",
    "PairSample": "row_pairs",
    "all_pairs": "row_pairs",
    "different_rows": "dependency",
    "distance_product": "sums",
    "n_compared": "sums",
    "is_cached": "compiled",
    "n_compiled": "compiled",
    "line_anchors": "copies",
    "line_room": "copies",
    "near_copies": "copies",
    "pair_sample": "row_pairs",
    "pair_sums": "sums",
    "pair_sums_of_relations": "sums",
    "pairs_looked_at": "row_pairs",
    "product_from_rows": "row_pair_products",
    "reduce_lattice": "lattice",
    "relevance": "dependency",
    "soft_decisions": "dependency",
    "thread_count": "threads",
    "tree_importances": "trees",
    "upper_deviations": "deviations",
    "warm_up": "compiled",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fedsieve.kernels' has no attribute {name!r}")
    return getattr(import_module(f"fedsieve.kernels.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""The fast twins of `fuzzy`: compiled, multi-threaded, exact to the last bit on any number of threads."""

from fedsieve.kernels.compiled import n_compiled
from fedsieve.kernels.pair_sums import pair_sums, pair_sums_of_relations
from fedsieve.kernels.products import distance_product
from fedsieve.kernels.relevance import different_rows, relevance, soft_decisions
from fedsieve.kernels.threads import thread_count
from fedsieve.kernels.warm_up import warm_up

__all__ = [
    "different_rows",
    "distance_product",
    "n_compiled",
    "pair_sums",
    "pair_sums_of_relations",
    "relevance",
    "soft_decisions",
    "thread_count",
    "warm_up",
]

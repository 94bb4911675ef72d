"""How kernels are compiled: without the interpreter's lock, strictly by IEEE rules, cached on disk.

No fast-math: re-ordered additions would make a sum depend on the machine's vector width.
"""

import logging
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

KERNELS: list[Any] = []
"""Every kernel that this process has loaded."""
log = logging.getLogger("fedsieve.kernels")


def compiled(function: Function) -> Function:
    """Compile `function` on its first call; later processes load it from the disk cache, where there can be one."""
    kernel = numba.njit(nogil=True)(function)
    try:
        kernel.enable_caching()
    except RuntimeError:  # neither the package's folder nor a home is writable: each process compiles for itself
        warn_once_uncached()
    KERNELS.append(kernel)
    _listen()
    return cast(Function, kernel)


class _SaysOnce(event.Listener):
    """Says that a kernel is compiled, where somebody waits for that the first time."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, started: event.Event) -> None:
        if not self._said and is_cached() and started.data["dispatcher"] in KERNELS:
            self._said = True
            log.warning("FedSieve is being compiled for this machine, up to half a minute; later runs find it on disk.")

    def on_end(self, ended: event.Event) -> None:
        pass


@cache
def _listen() -> None:
    event.register("numba:compile", _SaysOnce())  # type: ignore[no-untyped-call]


@cache
def warn_once_uncached() -> None:
    """Say why every process takes so long to begin, and what to do about it."""
    warnings.warn(
        "FedSieve's compiled code cannot be kept: neither the package's folder nor a home folder is writable, so each "
        "process compiles again (about half a minute). Set NUMBA_CACHE_DIR to a folder that is.",
        RuntimeWarning,
        stacklevel=2,
    )


def is_cached() -> bool:
    """Whether what this process compiles is kept for the next one."""
    return not warn_once_uncached.cache_info().currsize


def n_compiled() -> int:
    """How many kernel variants this process had to compile because the disk cache did not hold them."""
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)


def warm_up() -> None:
    """Compile or load the kernels of a selection now, by running each once on a tiny table."""
    from scipy import sparse

    from fedsieve.kernels import (
        dependency,
        deviations,
        row_pair_products,
        row_pairs,
        sums,
        trees,
    )  # which import this file

    rows = np.arange(20)
    X = np.stack([rows / 19.0, rows % 2 / 1.0, rows % 3 / 2.0], axis=1)  # many, two and three values
    radius = np.full(3, 0.3)
    pair_sums = sums.pair_sums(np.vstack([X, X]), radius)
    sums.pair_sums(sparse.csr_array(X[:, 1:2]), 0.3)
    sums.pair_sums(np.vstack([X, X]), radius, sample=row_pairs.pair_sample(40, 100, b""))
    sums.pair_sums_of_relations(np.ones((1, 2, 2)))
    sums.distance_product(pair_sums, np.ones(3))
    row_pair_products.product_from_rows(X, radius, np.ones(3))
    row_pair_products.product_from_rows(sparse.csr_array(X[:, 1:2]), 0.3, np.ones(1))
    deviations.upper_deviations(np.ones(3), np.ones(2), 2, np.ones(2), 0.0)
    Y = np.eye(4)[rows % 4]
    dependency.relevance(X, dependency.different_rows(Y, 2), radius)
    dependency.soft_decisions(X, Y, radius)
    trees.tree_importances(X, Y, 1)
    trees.tree_importances(X, Y, 1, weights=np.ones(20))
    trees.tree_importances(X, Y, 1, most_rows=10)


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 (numba's calling convention)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount: Callable[[Any], int] = cast(Any, _popcount)
"""The number of set bits of a 64-bit word, by the machine's own instruction; for compiled code only."""

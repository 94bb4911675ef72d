"""How kernels are compiled: without the interpreter's lock, strictly by IEEE rules, cached on disk.

No fast-math: re-ordered additions would make a sum depend on the machine's vector width.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_kernels: list[Any] = []


def compiled(function: Function) -> Function:
    """Compile `function` on its first call; later processes load it from the disk cache."""
    kernel = numba.njit(nogil=True, cache=True)(function)
    _kernels.append(kernel)
    return cast(Function, kernel)


def n_compiled() -> int:
    """How many kernel variants this process had to compile because the disk cache did not hold them."""
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in _kernels)

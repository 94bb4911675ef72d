"""Counting set bits by the machine's own instruction, which numba does not offer by itself."""

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 (numba's calling convention)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount: Callable[[Any], int] = cast(Any, _popcount)
"""The number of set bits of a 64-bit word; for compiled code only."""

"""The array types of the package's signatures, and the one way from a sparse table to a dense one."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = Any
"""A table (n_rows, n_columns) of float64: an ndarray, or a scipy CSR array (scipy publishes no types)."""


def is_sparse(table: Rows) -> bool:
    """Whether it is a scipy sparse table; says so without importing scipy, which takes a site's process longer."""
    return not isinstance(table, np.ndarray) and hasattr(table, "tocsr")


def dense(table: Rows) -> Float:
    """The table as an ndarray."""
    array: Float = table.toarray() if is_sparse(table) else table
    return array

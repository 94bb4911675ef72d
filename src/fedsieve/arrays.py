"""The array types of the package's signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Ring: TypeAlias = NDArray[np.uint64]
"""Integers modulo 2**64."""
Rows: TypeAlias = Any
"""A table (n_rows, n_columns) of float64: an ndarray, or a scipy CSR array (scipy publishes no types)."""

"""Membership degrees as 32-bit fixed-point numbers: Equation 3 for kernels.

A degree r in [0, 1] is stored as the whole number round(r * 2^23). Sums of whole numbers are exact, so pair sums do
not depend on threads, on the order of additions or on the machine, and copies of a feature get equal sums. The
difference and the threshold are taken in float64; rounding moves a degree by at most 6e-8, a pair sum by at most
2.4e-7 of itself (rows that agree in two features make up at least a quarter of the largest possible sum).
"""

from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float
from fedsieve.checks import check_choice
from fedsieve.errors import DataError, ParameterError
from fedsieve.fuzzy.relation import RELATION_KINDS, SIMILARITY_CAP

ONE = 1 << 23
"""The degree 1. A sum of 511 degrees stays below 2^32."""


def cuts(radius: ArrayLike, kind: str, nominal: Bool | None = None, n_features: int | None = None) -> Float:
    """The number each feature's threshold compares with; nominal features relate equal values only.

    One radius serves all of `n_features` features; otherwise there must be one each.
    """
    check_choice("kernels", "kind", kind, RELATION_KINDS)
    values = np.array(radius, dtype=np.float64, ndmin=1)
    if n_features is not None and values.shape == (1,):
        values = np.repeat(values, n_features)
    if n_features is not None and values.shape != (n_features,):
        raise DataError(f"kernels: one radius for each of {n_features} features; got shape {values.shape}.")
    if not np.all(values >= 0):
        raise ParameterError(f"kernels: a radius must be at least 0; got {values[~(values >= 0)][0]}.")
    if kind == "similarity":
        values = np.minimum(values, SIMILARITY_CAP)
    if nominal is not None:
        values[nominal] = SIMILARITY_CAP if kind == "similarity" else 0.0
    return values


@register_jitable
def fixed_degree(difference: Any, cut: Any, by_similarity: Any) -> Any:
    """Equation 3 in fixed point; a missing value makes the difference NaN and the degree 0."""
    alike = 1.0 - difference
    near = alike > cut if by_similarity else difference <= cut
    return np.int32(alike * ONE + 0.5) if near and alike > 0.0 else np.int32(0)

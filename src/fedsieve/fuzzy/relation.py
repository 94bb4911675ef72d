"""Fuzzy relations on the rows of a table (Definition 1, Equation 3); what is done with them is elsewhere.

A relation is an (n_samples, n_samples) matrix with entries in [0, 1]; entry (i, j) says how alike rows i and j are.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float
from fedsieve.checks import check_choice
from fedsieve.errors import DataError, ParameterError

RelationKind = Literal["distance", "similarity"]
RELATION_KINDS: tuple[str, ...] = get_args(RelationKind)

SIMILARITY_CAP = 1 - 1e-12
"""Under kind="similarity" the radius stays below this, so that a row is always related to its equals."""


def relation(x: ArrayLike, radius: float, kind: str = "distance", *, nominal: bool = False) -> Float:
    """Fuzzy similarity relation of one feature, Equation 3.

    With δ = abs(x_i - x_j) and radius ε::

        kind="distance"     r_ij = 1 - δ  if δ <= ε,      else 0      (the paper)
        kind="similarity"   r_ij = 1 - δ  if 1 - δ > ε,   else 0      (the published code of GRMFS)
        nominal=True        r_ij = 1      if x_i = x_j,   else 0      (radius and kind play no part)

    The diagonal is 1. A missing value (NaN) is unrelated to every other row.

    Parameters: `x` of shape (n_samples,), scaled to [0, 1] unless nominal. Returns (n_samples, n_samples).

    >>> relation([0.0, 0.25, 1.0], radius=0.25)
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    >>> relation([0.0, 0.25, 1.0], radius=0.25, kind="similarity")
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    >>> relation([2, 7, 2], radius=0, nominal=True)
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"fuzzy.relation: x must be one feature of shape (n_samples,); got shape {values.shape}.")
    difference = np.abs(values[:, None] - values[None, :])
    result = (difference == 0).astype(np.float64) if nominal else membership(difference, radius, kind)
    np.fill_diagonal(result, 1.0)
    return result


def membership(difference: ArrayLike, radius: ArrayLike, kind: str = "distance") -> Float:
    """Equation 3 for given differences δ >= 0 of any shape, element by element; `radius` broadcasts against them.

    Returns the broadcast shape.

    >>> membership([0.0, 0.25, 0.5], radius=0.25)
    array([1.  , 0.75, 0.  ])
    """
    check_choice("fuzzy.membership", "kind", kind, RELATION_KINDS)
    delta, epsilon = np.asarray(difference, dtype=np.float64), np.asarray(radius, dtype=np.float64)
    if not np.all(epsilon >= 0):
        raise ParameterError(f"fuzzy.membership: radius must be at least 0; got {epsilon.min()}.")
    alike = 1.0 - delta
    near = delta <= epsilon if kind == "distance" else alike > np.minimum(epsilon, SIMILARITY_CAP)
    return np.where(near, np.maximum(alike, 0.0), 0.0)


@dataclass(frozen=True)
class Properties:
    """Which of the three conditions of Definition 1 a relation meets."""

    reflexive: bool
    symmetric: bool
    transitive: bool

    @property
    def is_similarity(self) -> bool:
        """Reflexive and symmetric: a fuzzy similarity relation."""
        return self.reflexive and self.symmetric

    @property
    def is_equivalence(self) -> bool:
        """All three: a fuzzy equivalence relation."""
        return self.is_similarity and self.transitive


def properties(R: ArrayLike, *, atol: float = 1e-12) -> Properties:
    """Check the conditions of Definition 1: reflexive, symmetric, and sup-min transitive.

    R is transitive when R(x, z) >= sup_y min(R(x, y), R(y, z)) for all x, z. Takes O(n_samples³).

    >>> properties(relation([0.0, 0.25, 0.5], radius=0.25))
    Properties(reflexive=True, symmetric=True, transitive=False)
    >>> properties(relation([2, 7, 2], radius=0, nominal=True)).is_equivalence
    True
    """
    matrix = check_relation("fuzzy.properties", R)
    composed = np.array([np.minimum(row[:, None], matrix).max(axis=0) for row in matrix])
    transitive: Bool = matrix >= composed - atol
    return Properties(
        reflexive=bool(np.all(np.abs(np.diagonal(matrix) - 1) <= atol)),
        symmetric=bool(np.all(np.abs(matrix - matrix.T) <= atol)),
        transitive=bool(np.all(transitive)),
    )


def check_relation(owner: str, R: ArrayLike) -> Float:
    """Return R as a square float64 matrix with entries in [0, 1], or say what it is instead."""
    matrix = np.asarray(R, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise DataError(f"{owner}: a relation must be a square matrix of rows; got shape {matrix.shape}.")
    if not np.all((matrix >= 0) & (matrix <= 1)):
        raise DataError(
            f"{owner}: a relation has entries in [0, 1]; got {np.nanmin(matrix)} to {np.nanmax(matrix)}"
            f"{' and NaN' if np.isnan(matrix).any() else ''}."
        )
    return matrix

"""Fuzzy rough sets: what a relation can certainly and possibly say of a set (Equations 1, 2 and 8)."""

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.fuzzy.relation import check_relation


def lower_approximation(R: ArrayLike, A: ArrayLike) -> Float:
    """Lower approximation of the fuzzy set A, Equation 1: inf_y max(1 - R(x, y), A(y)).

    R has shape (n_samples, n_samples), A (n_samples,) with entries in [0, 1]. Returns (n_samples,).

    >>> lower_approximation([[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]], [1, 0, 1])
    array([0.25, 0.  , 1.  ])
    """
    relation, members = _relation_and_set("fuzzy.lower_approximation", R, A)
    lower: Float = np.maximum(1 - relation, members[None, :]).min(axis=1)
    return lower


def upper_approximation(R: ArrayLike, A: ArrayLike) -> Float:
    """Upper approximation of the fuzzy set A, Equation 2: sup_y min(R(x, y), A(y)).

    R has shape (n_samples, n_samples), A (n_samples,) with entries in [0, 1]. Returns (n_samples,).

    >>> upper_approximation([[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]], [1, 0, 1])
    array([1.  , 0.75, 1.  ])
    """
    relation, members = _relation_and_set("fuzzy.upper_approximation", R, A)
    upper: Float = np.minimum(relation, members[None, :]).max(axis=1)
    return upper


def positive_region(R: ArrayLike, Y: ArrayLike) -> Float:
    """Fuzzy positive region of the label set, Equation 8: the union (maximum) of the labels' lower approximations.

    Y has shape (n_samples, n_labels) with entries in [0, 1]. Returns (n_samples,).

    >>> positive_region([[1, 0.75, 0], [0.75, 1, 0], [0, 0, 1]], [[1, 0], [0, 1], [1, 1]])
    array([0.25, 0.25, 1.  ])
    """
    labels = np.asarray(Y, dtype=np.float64)
    if labels.ndim != 2 or not labels.shape[1]:
        raise DataError(f"fuzzy.positive_region: Y must be (n_samples, n_labels); got shape {labels.shape}.")
    region: Float = np.max([lower_approximation(R, column) for column in labels.T], axis=0)
    return region


def _relation_and_set(owner: str, R: ArrayLike, A: ArrayLike) -> tuple[Float, Float]:
    relation, members = check_relation(owner, R), np.asarray(A, dtype=np.float64)
    if members.shape != (len(relation),) or not np.all((members >= 0) & (members <= 1)):
        got = f"shape {members.shape}" if members.shape != (len(relation),) else f"{members.min()} to {members.max()}"
        raise DataError(f"{owner}: A must be a fuzzy set on the {len(relation)} rows, entries in [0, 1]; got {got}.")
    return relation, members

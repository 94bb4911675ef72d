"""The one rule for label matrices in this room: two dimensions, 0 and 1 only."""

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Int
from fedsieve.errors import DataError


def check_labels(owner: str, Y: ArrayLike) -> Int:
    """Y as integers, (n_samples, n_labels), or say what it is instead.

    >>> check_labels("partition", [[0, 1], [2, 0]])
    Traceback (most recent call last):
    fedsieve.errors.DataError: partition: Y must hold 0 and 1 only; got 2 among 1 others.
    """
    labels = np.asarray(Y)
    if labels.ndim != 2 or not labels.size:
        raise DataError(f"{owner}: Y must be (n_samples, n_labels) of 0 and 1; got shape {labels.shape}.")
    wrong = ~np.isin(labels, (0, 1))
    if wrong.any():
        raise DataError(f"{owner}: Y must hold 0 and 1 only; got {labels[wrong][0]} among {int(wrong.sum())} others.")
    return labels.astype(np.int64)

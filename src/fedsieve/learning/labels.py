"""Targets as on/off labels and back: which values a column of Y may take, and which of them means "on"."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError, listed

Classes = Any
"""1-D y: the sorted classes. 2-D Y: (n_labels, 2), the values of every column that mean off and on."""

WAY_OUT = "Give each label as 0 or 1; rows without labels are to be left out."


def encode(owner: str, Y: Any) -> tuple[Bool, Classes]:
    """Indicators (n_samples, n_labels) of "label on", and the classes that `decode` turns them back into.

    1-D y: one label per class. 2-D Y: one label per column; of its two values the larger is "on". A constant column
    takes the pair from the other columns, or 0 and 1.

    >>> encode("MLkNN", ["b", "a"])
    (array([[False,  True],
           [ True, False]]), array(['a', 'b'], dtype='<U1'))
    >>> encode("MLkNN", [[0, 1], [0, 0]])
    (array([[False,  True],
           [False, False]]), array([[0, 1],
           [0, 1]]))
    """
    if Y is None:
        raise DataError(f"{owner}: requires y to be passed, but the target y is None.")
    Y = Y.toarray() if sparse.issparse(Y) else check_array(Y, ensure_2d=False, dtype=None, input_name="y")
    if Y.ndim == 2 and Y.shape[1] == 1 and len(np.unique(Y)) > 2:
        warnings.warn(
            f"{owner}: a single column with more than two values is read as 1-D y; pass Y.ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        Y = Y.ravel()
    if Y.ndim == 1:
        check_classification_targets(Y)
        classes = np.unique(Y)
        return classes == Y[:, None], classes
    pairs = _pairs(owner, Y)
    return pairs[:, 1] == Y, pairs


def decode(posteriors: Float, classes: Classes) -> Any:
    """Predictions: a label is on from 1/2; of 1-D classes the most probable one wins, the first one if equal."""
    if classes.ndim == 2:
        off, on = classes.T
        return np.where(posteriors >= 0.5, on, off)
    return classes[np.argmax(posteriors, axis=1)]


def _pairs(owner: str, Y: Any) -> Classes:
    """The values that mean off and on, (n_labels, 2)."""
    binary = np.array([0, 1]).astype(Y.dtype)
    if Y.dtype.kind in "biu" and Y.size and Y.min() >= 0 and Y.max() <= 1:
        return np.tile(binary, (Y.shape[1], 1))
    check_classification_targets(Y)
    anywhere = np.unique(Y)
    pairs = []
    for column, found in enumerate(map(np.unique, Y.T)):
        pair = found
        if len(found) == 1 and len(anywhere) == 2:
            pair = anywhere
        elif len(found) == 1 and Y.dtype.kind in "iuf" and found[0] in binary:
            pair = binary
        if len(pair) != 2:
            values = listed([str(value) for value in found])
            raise DataError(f"{owner}: column {column} of Y must have two values, off and on; got {values}. {WAY_OUT}")
        pairs.append(pair)
    return np.stack(pairs)

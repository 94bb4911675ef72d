"""Labels as users write them, turned into a 0/1 matrix and a mask of labeled rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fedsieve.arrays import Bool, Float
from fedsieve.errors import DataError

UNLABELED = -1


def read_labels(Y: Any, owner: str = "labels") -> tuple[Float, Bool]:
    """Return (n_samples, n_labels) labels in {0, 1}, and which rows are labeled; `owner` is named in errors.

    A row of Y that is all -1 is unlabeled. 1-D y (or a single column) holds classes: -1 is unlabeled, the other
    values are one-hot encoded, since Equation 9 needs at least two labels to tell rows apart.

    >>> labels, labeled = read_labels([[1, 0, 1], [-1, -1, -1]])
    >>> labels[labeled], labeled
    (array([[1., 0., 1.]]), array([ True, False]))
    >>> read_labels(["cat", "dog", "cat"])[0]
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    values = label_array(Y)
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return _one_hot(values.ravel(), owner)
    if values.ndim != 2:
        raise DataError(f"{owner}: Y must be (n_samples, n_labels) or (n_samples,); got shape {values.shape}.")
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{owner}: labels must be 0 or 1; Y has dtype {values.dtype}. Encode the labels first."
        ) from None
    labeled = ~np.all(numbers == UNLABELED, axis=1)
    wrong = labeled[:, None] & ~np.isin(numbers, (0.0, 1.0))
    if wrong.any():
        row, label = (int(index) for index in np.argwhere(wrong)[0])
        raise DataError(
            f"{owner}: labels must be 0 or 1; got {numbers[row, label]:g} in row {row}, label {label} "
            f"({int(wrong.sum())} such entries). A row without labels is -1 throughout."
        )
    return numbers, labeled


def label_array(Y: Any) -> NDArray[Any]:
    """Labels as an array of whatever they are."""
    values = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    if values.dtype.kind == "U" and not hasattr(Y, "dtype"):
        values = np.array(Y, dtype=object)  # in a list of text, -1 must stay a number
    return values


def _one_hot(y: Any, owner: str) -> tuple[Float, Bool]:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{owner}: y contains NaN or infinity. An unlabeled row is -1.")
    labeled = np.array([not (np.isscalar(value) and value == UNLABELED) for value in y], dtype=bool)
    classes = np.unique(y[labeled])
    return (y[:, None] == classes[None, :]).astype(np.float64), labeled

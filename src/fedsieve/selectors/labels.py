"""Labels that users pass, turned into 0/1 columns: classes, tables of labels, rows without any or with some unknown."""

from collections.abc import Collection
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Bool, Float
from fedsieve.categories import ENOUGH_ROWS
from fedsieve.datasets.kinds import NUMBERS, of_text
from fedsieve.errors import DataError
from fedsieve.text import is_or_are
from fedsieve.values import is_sparse

UNLABELED = -1
BINARIZER = "scikit-learn's MultiLabelBinarizer makes 0/1 columns of sets of labels"


def read_labels(Y: Any, owner: str = "labels", *, partly: bool = False) -> tuple[Float, Bool]:
    """Return (n_samples, n_labels) labels in {0, 1}, and which rows are labeled; `owner` is named in errors.

    A row of Y that is all -1 (or NaN) is unlabeled. With `partly`, single labels of other rows may be unknown as well:
    -1 or NaN in Y, NaN in what is returned. 1-D y (or a single column) holds classes: -1 is unlabeled, the other
    values are one-hot encoded, since Equation 9 needs at least two labels to tell rows apart.

    >>> labels, labeled = read_labels([[1, 0, 1], [-1, -1, -1]])
    >>> labels[labeled], labeled
    (array([[1., 0., 1.]]), array([ True, False]))
    >>> read_labels(["cat", "dog", "cat"])[0]
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    values = label_array(Y, owner)
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return _one_hot(values.ravel(), owner)
    if values.ndim != 2:
        raise DataError(f"{owner}: Y must be (n_samples, n_labels) or (n_samples,); got shape {values.shape}.")
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{owner}: labels must be 0 or 1; Y has dtype {values.dtype}. Encode the labels first; {BINARIZER}."
        ) from None
    unknown = (numbers == UNLABELED) | np.isnan(numbers)
    labeled = ~unknown.all(axis=1)
    wrong = labeled[:, None] & ~np.isin(numbers, (0.0, 1.0)) & ~(unknown & partly)
    if wrong.any():
        row, label = (int(index) for index in np.argwhere(wrong)[0])
        got = f"{numbers[row, label]:g}" if unknown[row, label] else "another number"  # which may be a person's
        single = " Single unknown labels are for Sieve and SSFMLFS." * bool(unknown[wrong].all())
        raise DataError(
            f"{owner}: labels must be 0 or 1; got {got} in row {row}, label {label} "
            f"({int(wrong.sum())} such entries). A row without labels is -1 throughout.{single}"
        )
    if unknown[labeled].any():
        _check_known(owner, numbers[labeled], unknown[labeled])
        numbers[unknown] = np.nan
    return numbers, labeled


def _check_known(owner: str, numbers: Float, unknown: Bool) -> None:
    """Refuse labels of which nothing is known, and -1 that is meant as 0."""
    if not (numbers == 0).any():
        raise DataError(f"{owner}: all known labels are 1, since -1 means unknown. Absent labels are 0.")
    nowhere = np.flatnonzero(unknown.all(axis=0))
    if len(nowhere):
        raise DataError(
            f"{owner}: {len(nowhere)} of {unknown.shape[1]} labels {is_or_are(len(nowhere))} known in no row, "
            f"the first of them label {int(nowhere[0])}. Leave them out."
        )


def label_array(Y: Any, owner: str) -> NDArray[Any]:
    """Labels as an array of whatever they are; sets of labels are none."""
    try:
        values = np.asarray(Y.toarray() if is_sparse(Y) else Y)
    except ValueError:  # rows of different lengths
        values = np.empty(len(Y), dtype=object)
        values[:] = [tuple(row) for row in Y]
    if values.dtype.kind == "U" and not hasattr(Y, "dtype"):
        values = np.array(Y, dtype=object)  # in a list of text, -1 must stay a number
    if values.dtype == object and values.ndim == 2:  # pandas' NA, which is no number, is as unknown as NaN
        values = np.array([np.nan if _is_nothing(value) else value for value in values.flat], dtype=object).reshape(
            values.shape
        )
    if values.dtype == object and any(isinstance(v, Collection) and not isinstance(v, str) for v in values.flat):
        raise DataError(
            f"{owner}: each row of Y is a collection of labels; needed are 0/1 columns, one per label. {BINARIZER}: "
            "MultiLabelBinarizer().fit_transform(Y)."
        )
    return values


def read_weights(sample_weight: Any, labeled: Bool, owner: str) -> Float:
    """One finite weight per row, none below 0; unlabeled rows count once or not at all."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{owner}: sample_weight must be numbers, one per row of X.") from None
    if weights.shape != labeled.shape:
        raise DataError(
            f"{owner}: sample_weight must be one number per row of X, {len(labeled)}; got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError(
            f"{owner}: sample_weight must be finite and not negative; negative weights have no meaning here."
        )
    if not (weights[labeled] > 0).any():
        raise DataError(f"{owner}: sample_weight is zero in all labeled rows; some must count.")
    if not np.isin(weights[~labeled], (0.0, 1.0)).all():
        raise DataError(
            f"{owner}: sample_weight is for labeled rows; an unlabeled row (-1) counts once (1) or not at all (0)."
        )
    return weights


def _one_hot(y: Any, owner: str) -> tuple[Float, Bool]:
    """One column per class; what is measured rather than named is no class."""
    if any(_is_missing(value) for value in y):
        raise DataError(f"{owner}: y contains NaN or infinity. An unlabeled row is -1.")
    spelled = of_text(value for value in y if isinstance(value, str))
    numeric = [float(value) for value in y if isinstance(value, Real)]
    numeric += [float(value) for value in spelled.values] if spelled.kind == NUMBERS else []
    if y.dtype.kind in "mM":
        raise _no_classes(owner, f"{len(np.unique(y))} different dates")
    if not all(value.is_integer() for value in numeric):
        raise _no_classes(owner, f"{len(set(y))} different numbers, not all of them whole")
    classes, labeled = classes_of(y, owner)
    n_labeled = int(labeled.sum())
    if n_labeled >= ENOUGH_ROWS and len(classes) > n_labeled / 2:
        what = "numbers" if numeric else "words"
        raise _no_classes(owner, f"{len(classes)} different {what} in {n_labeled} rows")
    return (y[:, None] == classes[None, :]).astype(np.float64), labeled


def _no_classes(owner: str, these: str) -> DataError:
    return DataError(
        f"{owner}: y must hold classes; these are {these}. Make classes of what was measured, such as y > threshold, "
        "or give 0/1 labels."
    )


def classes_of(y: Any, owner: str) -> tuple[NDArray[Any], Bool]:
    """The classes of labeled rows, and which rows those are."""
    labeled = np.array([not (isinstance(value, Real) and value == UNLABELED) for value in y], dtype=bool)
    try:
        return np.unique(y[labeled]), labeled
    except TypeError:
        raise DataError(f"{owner}: y mixes numbers and text; name all classes alike. An unlabeled row is -1.") from None


def _is_missing(value: Any) -> bool:
    """NaN, infinity, None, and pandas' NA and NaT."""
    if isinstance(value, Real):
        return not isfinite(value)
    return _is_nothing(value) or bool(value != value)


def _is_nothing(value: Any) -> bool:
    """None, and pandas' NA and NaT."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")

"""What looks wrong in a dataset but need not be: labels among the features, constant features, names used twice."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from fedsieve.arrays import Float, Rows, dense
from fedsieve.datasets.dataset import Dataset
from fedsieve.errors import FedSieveWarning, listed

MOST_LEAKS = 3
"""How many leaks get a sentence of their own."""

ENOUGH_ROWS = 20
"""In fewer rows all codes of a nominal feature may well differ."""


def findings(dataset: Dataset) -> list[str]:
    """One sentence for each thing that looks wrong, worst first; none if all is well.

    >>> X, Y = np.array([[1, 0.0], [1, 1], [1, 0]]), np.array([[0], [1], [0]])
    >>> for sentence in findings(Dataset("tiny", X, Y, ("one", "copy"), ("ill",))):
    ...     print(sentence)
    feature 'copy' equals label 'ill' in every row: a label among the features?
    feature 'one' is constant.
    """
    leaks = label_leaks(dataset)
    found = [
        f"feature {feature!r} equals label {label!r} in every row: a label among the features?"
        for feature, label in leaks[:MOST_LEAKS]
    ]
    if len(leaks) > MOST_LEAKS:
        found.append(f"{len(leaks) - MOST_LEAKS} more features equal a label in every row.")
    for what, names in (("features", dataset.feature_names), ("labels", dataset.label_names)):
        if twice := duplicate_names(names):
            found.append(f"several {what} are called {listed(twice)}.")
    if both := sorted(set(dataset.feature_names) & set(dataset.label_names)):
        found.append(f"a feature and a label are called {listed(both)}.")
    if constant := constant_features(dataset):
        found.append(f"feature {listed(constant)} {'is' if len(constant) == 1 else 'are'} constant.")
    if own := identifiers(dataset):
        found.append(f"feature {listed(own)} has a code of its own in every row: an ID?")
    return found


def warn_of(dataset: Dataset, owner: str) -> None:
    """Warn of each finding, in the name of the caller's caller."""
    for sentence in findings(dataset):
        warnings.warn(f"{owner}: {sentence}", FedSieveWarning, stacklevel=3)


def label_leaks(dataset: Dataset) -> list[tuple[str, str]]:
    """Pairs (feature, label) that are equal in every row; constant ones tell nothing and are left out."""
    labels: dict[bytes, str] = {}
    for label, values in zip(dataset.label_names, dataset.Y.T, strict=True):
        if 0 < values.sum() < len(values):
            labels.setdefault(np.flatnonzero(values).tobytes(), label)
    return [
        (name, labels[ones])
        for name, values in zip(dataset.feature_names, columns_of(dataset.X), strict=True)
        if is_binary(values) and (ones := np.flatnonzero(values).tobytes()) in labels
    ]


def constant_features(dataset: Dataset) -> list[str]:
    """Features with at most one value, missing values aside."""
    columns = zip(dataset.feature_names, columns_of(dataset.X), strict=True)
    return [name for name, values in columns if is_constant(values)]


def identifiers(dataset: Dataset) -> list[str]:
    """Nominal features whose code differs from row to row."""
    nominal = set(dataset.nominal)
    columns = zip(dataset.feature_names, columns_of(dataset.X), strict=True) if nominal else ()
    return [name for name, values in columns if name in nominal and _all_differ(values)]


def duplicate_names(names: Sequence[str]) -> list[str]:
    """Names that occur more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def columns_of(X: Rows) -> Iterator[Float]:
    """The columns one by one, as dense vectors."""
    by_column = sparse.csc_array(X) if sparse.issparse(X) else X
    for column in range(X.shape[1]):
        yield dense(by_column[:, [column]]).ravel()


def is_binary(values: Float) -> bool:
    """Whether all values are 0 or 1, none missing."""
    return bool(((values == 0) | (values == 1)).all())


def is_constant(values: Float) -> bool:
    """Whether there is at most one value, missing values aside."""
    return not bool(np.fmin.reduce(values) < np.fmax.reduce(values))


def _all_differ(values: Float) -> bool:
    return ENOUGH_ROWS <= len(values) == len(np.unique(values))

"""A dataset in numbers (shape, labels per row, split, kinds of features, source), and what looks wrong in it."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Rows
from fedsieve.datasets.dataset import Dataset
from fedsieve.errors import FedSieveWarning, listed
from fedsieve.values import dense, is_sparse

FEW = 16
"""A feature with at most this many distinct values is few-valued."""

KINDS = ("continuous", "few-valued", "0/1", "nominal", "constant")

MOST_LEAKS = 3
"""How many leaks get a sentence of their own."""

ENOUGH_ROWS = 20
"""With fewer rows, all codes of a nominal feature may differ by chance."""


@dataclass(frozen=True)
class Description:
    """What `describe` found. `cardinality` is the mean number of labels per row, `density` that divided by n_labels.

    `kinds` counts features by `KINDS`, each under one; `nonzero` is the share of values that are not 0; `split` has the
    sizes of the official train and test part; `empty_labels` have no positive row, `bare_rows` no label.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    label_sets: int
    empty_labels: int
    bare_rows: int
    split: tuple[int, int] | None
    kinds: dict[str, int]
    is_sparse: bool
    nonzero: float
    missing: int
    source: str
    files: tuple[str, ...]
    findings: tuple[str, ...]


def describe(dataset: Dataset) -> Description:
    """Describe a dataset; `findings` has a sentence for each thing that looks wrong.

    >>> from fedsieve.datasets import load_digits
    >>> digits = describe(load_digits())
    >>> digits.n_samples, digits.label_sets, round(digits.cardinality, 2)
    (1797, 10, 3.19)
    >>> digits.kinds
    {'continuous': 42, 'few-valued': 16, '0/1': 3, 'nominal': 0, 'constant': 3}
    """
    n_samples, n_labels = dataset.Y.shape
    values = dataset.X.data if is_sparse(dataset.X) else dataset.X
    per_row = dataset.Y.sum(axis=1)
    return Description(
        name=dataset.name,
        n_samples=n_samples,
        n_features=dataset.X.shape[1],
        n_labels=n_labels,
        cardinality=float(per_row.mean()),
        density=float(dataset.Y.mean()),
        label_sets=len(np.unique(dataset.Y, axis=0)),
        empty_labels=int((dataset.Y.sum(axis=0) == 0).sum()),
        bare_rows=int((per_row == 0).sum()),
        split=None if dataset.train is None or dataset.test is None else (len(dataset.train), len(dataset.test)),
        kinds=_kinds(dataset),
        is_sparse=is_sparse(dataset.X),
        nonzero=float(np.count_nonzero(values)) / (n_samples * dataset.X.shape[1]),
        missing=int(np.isnan(values).sum()),
        source=dataset.source,
        files=dataset.files,
        findings=tuple(findings(dataset)),
    )


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


def warn_of_findings(dataset: Dataset, owner: str) -> None:
    """Warn about each finding, with the line that called the caller."""
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
    return [name for name, values in columns if has_one_value(values)]


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
    by_column = X.tocsc() if is_sparse(X) else X
    for column in range(X.shape[1]):
        yield dense(by_column[:, [column]]).ravel()


def is_binary(values: Float) -> bool:
    """Whether all values are 0 or 1, none missing."""
    return bool(((values == 0) | (values == 1)).all())


def has_one_value(values: Float) -> bool:
    """Whether there is at most one value, missing values aside."""
    return not bool(np.fmin.reduce(values) < np.fmax.reduce(values))


def _all_differ(values: Float) -> bool:
    return ENOUGH_ROWS <= len(values) == len(np.unique(values))


def _kinds(dataset: Dataset) -> dict[str, int]:
    nominal = set(dataset.nominal)
    columns = zip(dataset.feature_names, columns_of(dataset.X), strict=True)
    counts = Counter(_kind(values, name in nominal) for name, values in columns)
    return {kind: counts[kind] for kind in KINDS}


def _kind(values: Float, is_nominal: bool) -> str:
    if has_one_value(values):
        return "constant"
    if is_nominal:
        return "nominal"
    known = values[~np.isnan(values)]
    if is_binary(known):
        return "0/1"
    return "few-valued" if len(np.unique(known)) <= FEW else "continuous"

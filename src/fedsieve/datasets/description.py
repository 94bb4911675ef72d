"""A dataset in numbers: shape, labels per row, split, kinds of features, where it comes from, what looks wrong."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fedsieve.arrays import Float
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.findings import columns_of, findings, is_binary, is_constant

FEW = 16
"""Up to so many distinct values a feature counts as few-valued."""

KINDS = ("continuous", "few-valued", "0/1", "nominal", "constant")


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
    values = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
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
        is_sparse=bool(sparse.issparse(dataset.X)),
        nonzero=float(np.count_nonzero(values)) / (n_samples * dataset.X.shape[1]),
        missing=int(np.isnan(values).sum()),
        source=dataset.source,
        files=dataset.files,
        findings=tuple(findings(dataset)),
    )


def _kinds(dataset: Dataset) -> dict[str, int]:
    nominal = set(dataset.nominal)
    columns = zip(dataset.feature_names, columns_of(dataset.X), strict=True)
    counts = Counter(_kind(values, name in nominal) for name, values in columns)
    return {kind: counts[kind] for kind in KINDS}


def _kind(values: Float, is_nominal: bool) -> str:
    if is_constant(values):
        return "constant"
    if is_nominal:
        return "nominal"
    known = values[~np.isnan(values)]
    if is_binary(known):
        return "0/1"
    return "few-valued" if len(np.unique(known)) <= FEW else "continuous"

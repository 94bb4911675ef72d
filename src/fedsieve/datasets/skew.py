"""How unlike the clients of a partition are: in rows, in labels, in features."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Int, Rows, dense
from fedsieve.datasets.label_matrix import check_labels


class Skew(NamedTuple):
    """One client beside the whole.

    `label_distance` is the mean over labels of the absolute difference in prevalence; `feature_drift` the mean over
    features of the difference in means, in deviations of the whole (features without deviation are left out).
    """

    client: int
    n_rows: int
    label_distance: float
    feature_drift: float


def skew(parts: Sequence[Int], Y: ArrayLike, X: Rows | None = None) -> list[Skew]:
    """Describe a partition, one entry per client; without X the drift is NaN.

    >>> report = skew([np.array([0, 1]), np.array([2, 3])], [[1, 0], [1, 0], [0, 1], [0, 1]], np.eye(4)[:, :1])
    >>> [(entry.client, entry.n_rows, entry.label_distance, round(entry.feature_drift, 3)) for entry in report]
    [(0, 2, 0.5, 0.577), (1, 2, 0.5, 0.577)]
    """
    labels = check_labels("partition.skew", Y)
    whole = labels.mean(axis=0)
    table = None if X is None else dense(X)
    return [
        Skew(
            client=client,
            n_rows=len(rows),
            label_distance=float(np.abs(labels[rows].mean(axis=0) - whole).mean()) if len(rows) else float("nan"),
            feature_drift=_drift(table, rows),
        )
        for client, rows in enumerate(parts)
    ]


def _drift(table: Rows | None, rows: Int) -> float:
    if table is None or not len(rows):
        return float("nan")
    deviation = table.std(axis=0)
    varying = deviation > 0
    difference = np.abs(table[rows].mean(axis=0) - table.mean(axis=0))[varying]
    return float((difference / deviation[varying]).mean()) if varying.any() else 0.0

"""Which rows the server has labels for: a share of them in which every label is as frequent as in the whole."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Int
from fedsieve.datasets.label_matrix import check_labels
from fedsieve.errors import ParameterError


def labeled_split(Y: ArrayLike, fraction: float, random_state: Any = 0) -> tuple[Int, Int]:
    """Choose the server's labeled rows: `fraction` of them, with every label as frequent as in the whole.

    Iterative stratification: the rarest label not yet dealt with is shared out first, each of its rows going to the
    side that still wants it more. Returns (labeled, unlabeled) row numbers, sorted and disjoint.

    >>> labeled, unlabeled = labeled_split([[1, 0]] * 10 + [[0, 1]] * 10, fraction=0.2)
    >>> [int((labeled < 10).sum()), len(labeled), len(unlabeled)]
    [2, 4, 16]
    """
    labels = check_labels("partition.labeled_split", Y).astype(bool)
    n_samples = len(labels)
    if not 0 < fraction < 1:
        raise ParameterError(f"partition.labeled_split: fraction must be above 0 and below 1; got {fraction}.")
    n_labeled = round(fraction * n_samples)
    if not 0 < n_labeled < n_samples:
        raise ParameterError(
            "partition.labeled_split: fraction must leave rows on both sides; "
            f"{fraction} of {n_samples} rows is {n_labeled}."
        )
    rng = np.random.default_rng(random_state)
    sides = np.array([n_labeled / n_samples, 1 - n_labeled / n_samples])
    wanted_rows = np.array([n_labeled, n_samples - n_labeled], dtype=np.float64)
    wanted = sides[:, None] * labels.sum(axis=0)
    waiting = rng.permutation(n_samples)
    side_of = np.empty(n_samples, dtype=np.int64)
    while len(waiting):
        label = _rarest(labels[waiting].sum(axis=0))
        rows = waiting if label is None else waiting[labels[waiting, label]]
        for row in rows:
            need = wanted_rows if label is None else wanted[:, label] + 1e-9 * wanted_rows  # rows wanted break ties
            side = int(np.argmax(np.where(wanted_rows > 0.5, need, -np.inf)))
            side_of[row] = side
            wanted_rows[side] -= 1
            wanted[side] -= labels[row]
        waiting = waiting[~np.isin(waiting, rows)]
    return np.flatnonzero(side_of == 0), np.flatnonzero(side_of == 1)


def _rarest(n_left: Int) -> int | None:
    """The label with the fewest rows left, `None` when only rows without labels are left."""
    return int(np.argmin(np.where(n_left > 0, n_left, np.iinfo(np.int64).max))) if n_left.any() else None

"""How rows are spread over a server and clients, and how unlike the clients are; every row goes to one place.

Clients get rows evenly, with unlike labels, or in unlike numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Bool, Float, Int, Rows
from fedsieve.checks import check_count
from fedsieve.errors import DataError, ParameterError
from fedsieve.values import dense

__all__ = ["dirichlet", "iid", "labeled_split", "quantity_skew", "skew", "stratified_folds"]


def dirichlet(
    Y: ArrayLike, n_clients: int = 10, alpha: float = 0.5, random_state: Any = 0, *, min_rows: int = 2
) -> list[Int]:
    """Split multi-label rows over clients so that labels are unevenly spread.

    The rule: each label (and "no label at all") draws how it is shared among the clients from Dirichlet(alpha, ...,
    alpha). Each row picks one of its labels at random and goes to a client by that label's shares. A client left with
    fewer than `min_rows` rows takes random rows from the client with the most. Small `alpha` means unlike clients.

    Returns one sorted array of row numbers per client; every row is in exactly one.

    >>> parts = dirichlet([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]], n_clients=2, random_state=3)
    >>> sorted(int(row) for part in parts for row in part)
    [0, 1, 2, 3, 4, 5]
    """
    labels = _check_labels("partition.dirichlet", Y)
    _check("partition.dirichlet", len(labels), n_clients, min_rows, alpha)
    rng = np.random.default_rng(random_state)
    with_none = np.hstack([labels, labels.sum(axis=1, keepdims=True) == 0]).astype(np.float64)
    shares = rng.dirichlet(np.full(n_clients, float(alpha)), size=with_none.shape[1])
    picked = _draw(with_none / with_none.sum(axis=1, keepdims=True), rng)
    return _with_enough_rows(_draw(shares[picked], rng), n_clients, min_rows, rng)


def quantity_skew(
    Y: ArrayLike, n_clients: int = 10, alpha: float = 0.5, random_state: Any = 0, *, min_rows: int = 2
) -> list[Int]:
    """Split rows over clients at random, in unlike numbers: the clients' shares are drawn from Dirichlet(alpha, ...).

    >>> [len(part) for part in quantity_skew([[1, 0]] * 30, n_clients=3, random_state=1)]
    [12, 10, 8]
    """
    n_samples = len(_check_labels("partition.quantity_skew", Y))
    _check("partition.quantity_skew", n_samples, n_clients, min_rows, alpha)
    rng = np.random.default_rng(random_state)
    shares = rng.dirichlet(np.full(n_clients, float(alpha)))
    return _with_enough_rows(_draw(np.tile(shares, (n_samples, 1)), rng), n_clients, min_rows, rng)


def iid(Y: ArrayLike, n_clients: int = 10, random_state: Any = 0, *, min_rows: int = 2) -> list[Int]:
    """Split rows over clients at random, in numbers that differ by at most one.

    >>> [len(part) for part in iid([[1, 0]] * 11, n_clients=3)]
    [4, 4, 3]
    """
    n_samples = len(_check_labels("partition.iid", Y))
    _check("partition.iid", n_samples, n_clients, min_rows)
    shuffled = np.random.default_rng(random_state).permutation(n_samples)
    return [np.sort(part) for part in np.array_split(shuffled, n_clients)]


def labeled_split(Y: ArrayLike, fraction: float, random_state: Any = 0) -> tuple[Int, Int]:
    """Choose the server's labeled rows: `fraction` of them, with every label as frequent as in the whole.

    Iterative stratification: the rarest label not yet dealt with is shared out first, each of its rows going to the
    side that still wants it more. Returns (labeled, unlabeled) row numbers, sorted and disjoint.

    >>> labeled, unlabeled = labeled_split([[1, 0]] * 10 + [[0, 1]] * 10, fraction=0.2)
    >>> [int((labeled < 10).sum()), len(labeled), len(unlabeled)]
    [2, 4, 16]
    """
    labels = _check_labels("partition.labeled_split", Y).astype(bool)
    n_samples = len(labels)
    if not 0 < fraction < 1:
        raise ParameterError(f"partition.labeled_split: fraction must be above 0 and below 1; got {fraction}.")
    n_labeled = round(fraction * n_samples)
    if not 0 < n_labeled < n_samples:
        raise ParameterError(
            "partition.labeled_split: fraction must leave rows on both sides; "
            f"{fraction} of {n_samples} rows is {n_labeled}."
        )
    side_of = _stratified(labels, np.array([n_labeled, n_samples - n_labeled]), np.random.default_rng(random_state))
    return np.flatnonzero(side_of == 0), np.flatnonzero(side_of == 1)


def stratified_folds(Y: ArrayLike, n_folds: int = 5, random_state: Any = 0) -> list[Int]:
    """Split rows into folds of equal size (give or take one), with every label as frequent as in the whole.

    Iterative stratification, as in `labeled_split`. Returns one sorted array of row numbers per fold; every row is in
    exactly one.

    >>> folds = stratified_folds([[1, 0]] * 4 + [[0, 1]] * 8, n_folds=4)
    >>> [(len(fold), int((fold < 4).sum())) for fold in folds]
    [(3, 1), (3, 1), (3, 1), (3, 1)]
    """
    labels = _check_labels("partition.stratified_folds", Y).astype(bool)
    n_samples = len(labels)
    check_count("partition.stratified_folds", "n_folds", n_folds, 2, n_samples, "rows=")
    sizes = np.full(n_folds, n_samples // n_folds) + (np.arange(n_folds) < n_samples % n_folds)
    fold_of = _stratified(labels, sizes, np.random.default_rng(random_state))
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


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
    labels = _check_labels("partition.skew", Y)
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


def _check_labels(owner: str, Y: ArrayLike) -> Int:
    """Y as integers, (n_samples, n_labels), or say what it is instead."""
    labels = np.asarray(Y)
    if labels.ndim != 2 or not labels.size:
        raise DataError(f"{owner}: Y must be (n_samples, n_labels) of 0 and 1; got shape {labels.shape}.")
    wrong = ~np.isin(labels, (0, 1))
    if wrong.any():
        share = f"{wrong.sum()} of {wrong.size} entries are neither"
        raise DataError(f"{owner}: Y must hold 0 and 1 only; got {labels[wrong][0]} ({share}).")
    return labels.astype(np.int64)


def _check(owner: str, n_samples: int, n_clients: int, min_rows: int, alpha: float = 1.0) -> None:
    if not 0 < alpha < np.inf:
        raise ParameterError(f"{owner}: alpha must be a positive number; got {alpha}.")
    if n_clients < 1 or n_samples < n_clients * min_rows:
        raise ParameterError(
            f"{owner}: {n_clients} clients with at least {min_rows} rows each need {max(n_clients, 1) * min_rows} rows "
            f"and at least one client; got {n_samples} rows. Take fewer clients."
        )


def _draw(probabilities: Float, rng: np.random.Generator) -> Int:
    """One category per row, by that row's probabilities."""
    edges = np.cumsum(probabilities, axis=1)
    drawn: Int = (rng.random((len(edges), 1)) * edges[:, -1:] >= edges).sum(axis=1)
    capped: Int = np.minimum(drawn, edges.shape[1] - 1)
    return capped


def _with_enough_rows(owner: Int, n_clients: int, min_rows: int, rng: np.random.Generator) -> list[Int]:
    sizes = np.bincount(owner, minlength=n_clients)
    while sizes.min() < min_rows:
        poorest, richest = int(sizes.argmin()), int(sizes.argmax())
        owner[rng.choice(np.flatnonzero(owner == richest))] = poorest
        sizes[poorest] += 1
        sizes[richest] -= 1
    return [np.flatnonzero(owner == client) for client in range(n_clients)]


def _stratified(labels: Bool, sizes: Int, rng: np.random.Generator) -> Int:
    """The side that each row goes to, so many rows to each; the rarest label left is dealt out first."""
    n_samples = len(labels)
    wanted_rows = sizes.astype(np.float64)
    shares = wanted_rows / n_samples
    shares[-1] = 1 - shares[:-1].sum()
    wanted = shares[:, None] * labels.sum(axis=0)
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
    return side_of


def _rarest(n_left: Int) -> int | None:
    """The label with the fewest rows left, `None` when only rows without labels are left."""
    return int(np.argmin(np.where(n_left > 0, n_left, np.iinfo(np.int64).max))) if n_left.any() else None


def _drift(table: Rows | None, rows: Int) -> float:
    if table is None or not len(rows):
        return float("nan")
    deviation = table.std(axis=0)
    varying = deviation > 0
    difference = np.abs(table[rows].mean(axis=0) - table.mean(axis=0))[varying]
    return float((difference / deviation[varying]).mean()) if varying.any() else 0.0

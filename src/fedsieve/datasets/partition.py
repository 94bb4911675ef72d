"""How rows come to lie where they lie: the server's labelled share, and clients whose rows are not alike."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError, ParameterError


def dirichlet(
    Y: ArrayLike, n_clients: int = 10, alpha: float = 0.5, random_state: Any = 0, *, min_rows: int = 2
) -> list[Int]:
    """Split multi-label rows over clients so that labels are unevenly spread.

    The rule: each label (and "no label at all") draws how it is shared among the clients from Dirichlet(alpha, ...,
    alpha). Each row picks one of its labels at random and goes to a client by that label's shares. A client left with
    fewer than `min_rows` rows takes rows, at random, from whoever has most. Small `alpha` means unlike clients.

    Returns one sorted array of row numbers per client; every row is in exactly one.

    >>> parts = dirichlet([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]], n_clients=2, random_state=3)
    >>> sorted(int(row) for part in parts for row in part)
    [0, 1, 2, 3, 4, 5]
    """
    labels = _labels(Y)
    n_samples = len(labels)
    if not 0 < alpha < np.inf:
        raise ParameterError(f"partition.dirichlet: alpha must be a positive number; got {alpha}.")
    if n_clients < 1 or n_samples < n_clients * min_rows:
        raise ParameterError(
            f"partition.dirichlet: {n_clients} clients with at least {min_rows} rows each need "
            f"{max(n_clients, 1) * min_rows} rows and at least one client; got {n_samples} rows."
        )
    rng = np.random.default_rng(random_state)
    with_none = np.hstack([labels, labels.sum(axis=1, keepdims=True) == 0]).astype(np.float64)
    shares = rng.dirichlet(np.full(n_clients, float(alpha)), size=with_none.shape[1])
    picked = _draw(with_none / with_none.sum(axis=1, keepdims=True), rng)
    return _with_enough_rows(_draw(shares[picked], rng), n_clients, min_rows, rng)


def labelled_split(Y: ArrayLike, fraction: float, random_state: Any = 0) -> tuple[Int, Int]:
    """Choose the server's labelled rows: `fraction` of them, with every label as frequent as in the whole.

    Iterative stratification: the rarest label not yet dealt with is shared out first, each of its rows going to the
    side that still wants it more. Returns (labelled, unlabelled) row numbers, sorted and disjoint.

    >>> labelled, unlabelled = labelled_split([[1, 0]] * 10 + [[0, 1]] * 10, fraction=0.2)
    >>> [int((labelled < 10).sum()), len(labelled), len(unlabelled)]
    [2, 4, 16]
    """
    labels = _labels(Y).astype(bool)
    n_samples = len(labels)
    if not 0 < fraction < 1:
        raise ParameterError(f"partition.labelled_split: fraction must be above 0 and below 1; got {fraction}.")
    n_labelled = round(fraction * n_samples)
    if not 0 < n_labelled < n_samples:
        raise ParameterError(
            "partition.labelled_split: fraction must leave rows on both sides; "
            f"{fraction} of {n_samples} rows is {n_labelled}."
        )
    rng = np.random.default_rng(random_state)
    sides = np.array([n_labelled / n_samples, 1 - n_labelled / n_samples])
    wanted_rows = np.array([n_labelled, n_samples - n_labelled], dtype=np.float64)
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


def _labels(Y: ArrayLike) -> Int:
    labels = np.asarray(Y)
    if labels.ndim != 2 or not labels.size:
        raise DataError(f"partition: Y must be (n_samples, n_labels) of 0 and 1; got shape {labels.shape}.")
    wrong = ~np.isin(labels, (0, 1))
    if wrong.any():
        raise DataError(f"partition: Y must hold 0 and 1 only; got {labels[wrong][0]} among {int(wrong.sum())} others.")
    return labels.astype(np.int64)

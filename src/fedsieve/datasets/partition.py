"""How rows are spread over clients: evenly, by unlike labels, or in unlike numbers; every row is dealt out once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedsieve.arrays import Float, Int
from fedsieve.datasets.label_matrix import check_labels
from fedsieve.datasets.labeled import labeled_split
from fedsieve.datasets.skew import skew
from fedsieve.errors import ParameterError

__all__ = ["dirichlet", "iid", "labeled_split", "quantity_skew", "skew"]


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
    labels = check_labels("partition.dirichlet", Y)
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
    n_samples = len(check_labels("partition.quantity_skew", Y))
    _check("partition.quantity_skew", n_samples, n_clients, min_rows, alpha)
    rng = np.random.default_rng(random_state)
    shares = rng.dirichlet(np.full(n_clients, float(alpha)))
    return _with_enough_rows(_draw(np.tile(shares, (n_samples, 1)), rng), n_clients, min_rows, rng)


def iid(Y: ArrayLike, n_clients: int = 10, random_state: Any = 0, *, min_rows: int = 2) -> list[Int]:
    """Split rows over clients at random, in numbers that differ by at most one.

    >>> [len(part) for part in iid([[1, 0]] * 11, n_clients=3)]
    [4, 4, 3]
    """
    n_samples = len(check_labels("partition.iid", Y))
    _check("partition.iid", n_samples, n_clients, min_rows)
    shuffled = np.random.default_rng(random_state).permutation(n_samples)
    return [np.sort(part) for part in np.array_split(shuffled, n_clients)]


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

"""Random tables, federations and labels for property tests.

Values are multiples of 1/1000, so that no pair of rows lies within rounding of a threshold unless a test wants that.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

KINDS = ("distance", "similarity")


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> np.ndarray:
    """One feature: continuous, few-valued, 0/1, constant or nearly so."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["continuous", "few", "binary", "constant", "one_odd"]))
    if kind == "continuous":
        return rng.integers(0, 1001, n_rows) / 1000
    if kind == "few":
        return rng.integers(0, draw(st.integers(3, 16)), n_rows) / 16
    if kind == "binary":
        return (rng.random(n_rows) < draw(st.floats(0.1, 0.9))).astype(float)
    x = np.full(n_rows, rng.integers(0, 1001) / 1000)
    if kind == "one_odd":
        x[rng.integers(n_rows)] = 0.5
    return x


@st.composite
def tables(draw: st.DrawFn, min_rows: int = 2, max_rows: int = 40, max_features: int = 9) -> np.ndarray:
    """A scaled table, (n_rows, n_features)."""
    n_rows, n_features = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_features))
    return np.stack([draw(columns(n_rows)) for _ in range(n_features)], axis=1)


def with_gaps(X: np.ndarray, seed: int, share: float = 0.15) -> np.ndarray:
    """A copy with values missing at random."""
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X)


@dataclass(frozen=True)
class Federation:
    """Unscaled rows of several clients, and the server's labeled rows."""

    clients: dict[str, np.ndarray]
    X: np.ndarray
    Y: np.ndarray

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"f{p}" for p in range(self.X.shape[1]))


@st.composite
def federations(draw: st.DrawFn, max_clients: int = 4) -> Federation:
    """Random rows, some features being copies, mirror images or shifts of others, dealt out to server and clients."""
    sizes = draw(st.lists(st.integers(2, 12), min_size=2, max_size=max_clients))
    n_labeled = draw(st.integers(5, 12))
    n_rows = sum(sizes) + n_labeled
    X = np.stack([draw(columns(n_rows)) for _ in range(draw(st.integers(2, 5)))], axis=1)
    copied = draw(st.lists(st.tuples(st.integers(0, X.shape[1] - 1), st.sampled_from([1.0, -1.0, 4.0])), max_size=3))
    X = np.hstack([X, *(factor * X[:, [p]] + 0.5 for p, factor in copied)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = X[:, rng.permutation(X.shape[1])]
    Y = rng.integers(0, 2, (n_labeled, draw(st.integers(2, 5))))
    edges = np.cumsum([0, *sizes])
    clients = {f"c{i}": X[a:b] for i, (a, b) in enumerate(pairwise(edges))}
    return Federation(clients, X[edges[-1] :], Y)


@st.composite
def partly_labeled(
    draw: st.DrawFn, min_labeled: int = 1, ties: bool = True, max_rows: int = 20, max_features: int = 28
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X on [0, 1] with more or fewer features than rows, labels of all rows, and which of them may be seen.

    With `ties`, values may be multiples of 1/8: distances of rows are then exact, and many of them equal.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(max(2, min_labeled), max_rows)), draw(st.integers(1, max_features))
    n_steps = draw(st.sampled_from([0, 1, 8] if ties else [0]))
    X = rng.integers(0, n_steps + 1, (n_rows, n_features)) / n_steps if n_steps else rng.random((n_rows, n_features))
    X[0], X[-1] = 0.0, 1.0  # so that scaling changes nothing
    if draw(st.booleans()):
        X[:, draw(st.integers(0, n_features - 1))] = 0.0
    Y = rng.integers(0, 2, (n_rows, draw(st.integers(2, 4)))).astype(float)
    labeled = np.zeros(n_rows, dtype=bool)
    labeled[rng.permutation(n_rows)[: draw(st.integers(min_labeled, n_rows))]] = True
    return X, Y, labeled


@st.composite
def dealt_out(draw: st.DrawFn, n_parts: int = 4) -> tuple[np.ndarray, list[np.ndarray]]:
    """A table with gaps, and a split of its rows in which a part may be empty."""
    X = with_gaps(draw(tables(min_rows=3)), draw(st.integers(0, 99)), draw(st.sampled_from([0.0, 0.3])))
    owner = np.array(draw(st.lists(st.integers(0, n_parts - 1), min_size=len(X), max_size=len(X))))
    order = draw(st.permutations(range(n_parts)))
    return X, [X[owner == part] for part in order]

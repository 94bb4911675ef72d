"""What all trees share: random numbers that are our own, the rows a tree sees, a column's span, and how rows part."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled

SAME = 1e-12  # gains that differ less, per row, differ by rounding


@compiled
def mixed(state: np.uint64) -> np.uint64:
    """SplitMix64: from a counter to a random number."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def tree_key(seed: np.uint64, tree: np.uint64) -> np.uint64:
    """What the numbers of one tree are drawn by."""
    return mixed(mixed(seed) ^ tree)


@compiled
def uniform(counter: Int, key: np.uint64) -> float:
    """The next number in [0, 1)."""
    counter[0] += 1
    return float(mixed(key + np.uint64(counter[0])) >> np.uint64(11)) / 9007199254740992.0


@compiled
def drawn_rows(n_rows: int, n_drawn: int, seed: np.uint64, tree: np.uint64) -> Int:
    """So many different rows that one tree sees, in ascending order; all sets of them are as likely."""
    key = mixed(~tree_key(seed, tree))  # other numbers than those that the tree grows by
    counter = np.zeros(1, dtype=np.int64)
    rows = np.arange(n_rows)
    for place in range(n_drawn):
        other = place + int(uniform(counter, key) * (n_rows - place))
        rows[place], rows[other] = rows[other], rows[place]
    return np.sort(rows[:n_drawn])


@compiled
def span(column: Float, node: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest value in the rows of a node."""
    low, high = column[node[0]], column[node[0]]
    for row in node:
        low, high = min(low, column[row]), max(high, column[row])
    return low, high


@compiled
def parted(rows: np.ndarray, first: int, last: int, column: Float, threshold: float) -> int:
    """Bring the rows of a node that go left before the others; returns where the others begin."""
    place = first
    for position in range(first, last):
        row = rows[position]
        if column[row] <= threshold:
            rows[position] = rows[place]
            rows[place] = row
            place += 1
    return place


@compiled
def shares(importance: Float) -> Float:
    """Parts of a whole of 1; all 0 where nothing was split."""
    total = importance.sum()
    return importance / total if total > 0.0 else importance

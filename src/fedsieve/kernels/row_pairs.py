"""Which pairs of rows stand for all: the rows in an order drawn at random, each with the few that follow it there.

Every two rows are as likely to be so near to each other, so sums over these pairs, times all pairs by those looked at,
are right on average; and every row is in as many pairs as any other. That makes the sums more precise than pairs drawn
one by one (a row's own part is the same as in all pairs), and tells of no row more than of others. The pairs are at
least as many as the rows.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Int


@dataclass(frozen=True, eq=False)
class PairSample:
    """Row `order[i]` is paired with the `n_next` rows after it; after the last comes the first."""

    order: Int
    n_next: int

    @property
    def n_pairs(self) -> int:
        """How many pairs there are, each once."""
        return len(self.order) * self.n_next

    @property
    def weight(self) -> float:
        """All pairs of rows, by those in the sample."""
        return (len(self.order) - 1) / 2 / self.n_next


def all_pairs(n_rows: int) -> int:
    """The pairs of different rows, each once."""
    return n_rows * (n_rows - 1) // 2


def pairs_looked_at(n_rows: int, max_pairs: int) -> int:
    """All pairs, or those of a sample."""
    return all_pairs(n_rows) if all_pairs(n_rows) <= max_pairs else n_rows * _n_next(n_rows, max_pairs)


def pair_sample(n_rows: int, max_pairs: int, seed: bytes) -> PairSample | None:
    """At most `max_pairs` pairs of so many rows, but each row in two at least; `None` where these are all there are.

    >>> sample = pair_sample(1001, 10_000, b"secret")
    >>> sample.n_next, sample.n_pairs, sorted(sample.order.tolist()) == list(range(1001))
    (9, 9009, True)
    >>> pair_sample(100, 10_000, b"secret") is None
    True
    """
    if all_pairs(n_rows) <= max_pairs:
        return None
    order = np.random.default_rng(int.from_bytes(seed)).permutation(n_rows)
    return PairSample(order, _n_next(n_rows, max_pairs))


def _n_next(n_rows: int, max_pairs: int) -> int:
    """Below half the rows, or a pair would be met from both its ends."""
    return max(1, min(max_pairs // n_rows, (n_rows - 1) // 2))

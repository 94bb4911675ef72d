"""Shamir's secret sharing over a prime field: any `needed` shares give the secret, fewer say nothing about it.

A. Shamir: How to share a secret. Communications of the ACM 22, 1979.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache

from fedsieve.protocol.method import MIN_SECURE

PRIME = 2**256 + 297  # the smallest above all secrets of 32 bytes


def threshold(n_sites: int) -> int:
    """How many of so many sites it takes: two thirds, and one more where they are whole.

    Two groups of that size share a third of the sites, so that no server can play both with less than that many liars.

    >>> [threshold(n) for n in (3, 4, 9, 10)]
    [3, 3, 7, 7]
    """
    return max(MIN_SECURE, 2 * n_sites // 3 + 1)


def split(secret: int, n_shares: int, needed: int) -> list[int]:
    """Shares of a secret, at x = 1, 2, ..."""
    others = [secrets.randbelow(PRIME) for _ in range(needed - 1)]
    return [value_at(x, [secret, *others]) for x in range(1, n_shares + 1)]


def value_at(x: int, coefficients: Sequence[int]) -> int:
    """A polynomial's value, the constant first.

    >>> value_at(2, [7, 0, 3])
    19
    """
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % PRIME
    return value


def combine(shares: Mapping[int, int], at: int = 0) -> int:
    """The value of the polynomial through the shares, by x; at 0 it is the secret.

    >>> combine({1: 10, 2: 19, 3: 34}), combine({1: 10, 2: 19, 3: 34}, 4)
    (7, 55)
    """
    places = tuple(shares)
    return sum(shares[x] * weight for x, weight in zip(places, _weights(places, at), strict=True)) % PRIME


@lru_cache(maxsize=64)
def _weights(places: tuple[int, ...], at: int) -> tuple[int, ...]:
    """Lagrange's: what each share counts for."""
    weights = []
    for x in places:
        above = below = 1
        for other in places:
            if other != x:
                above, below = above * (at - other) % PRIME, below * (x - other) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return tuple(weights)

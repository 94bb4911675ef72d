"""Secrets from shares of which some are wrong: others are tried, and who is at fault is found where it can be.

What a secret must be is known from what its owner announced, so a wrong one is never used.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from fedsieve.errors import ProtocolError, listed
from fedsieve.privacy.secure_sum import shamir

TRIES = 500  # sets of shares for one secret
AT_ODDS = 2  # with so many others, nobody was merely lied about


class Rebuilt(NamedTuple):
    """A secret, and the places of those whose shares do not fit it."""

    secret: int
    unfit: frozenset[int] = frozenset()


def rebuilt(
    owner: str,
    shares: Mapping[int, int],
    needed: int,
    is_right: Callable[[int], bool],
    doubted: Collection[int] = (),
) -> Rebuilt:
    """The secret of which shares came, by place; raises `ProtocolError` where none of the sets that are tried gives it.

    `doubted` are places whose shares of other secrets did not fit: they are tried last, and looked at.
    """
    places = sorted(shares, key=lambda place: (place in doubted, place))
    for tried, some in enumerate(_sets(places, needed)):
        through = {place: shares[place] for place in some}
        secret = shamir.combine(through)
        if is_right(secret):
            looks = tried or any(place in doubted for place in shares)  # else nobody gave a reason to
            return Rebuilt(secret, _unfit(shares, through) if looks else frozenset())
    raise ProtocolError(
        f"of {len(shares)} shares of {owner!r} no {needed} give the secret that it announced: it shared another, or "
        "too many that hold a share lie. The total is not used. Start a new run; leave it out if that fails too."
    )


def at_odds(disputes: Collection[tuple[str, str]]) -> dict[str, str]:
    """Who did not follow the protocol, and why that is said, from pairs of holder and owner of shares that did not fit.

    Of two whose word is against each other's it cannot be told. One that is at odds with several, each of them with
    fewer, is the one.

    >>> at_odds({("liar", "a"), ("liar", "b"), ("x", "y")})
    {'liar': "sent or made shares that do not fit those of 'a', 'b'."}
    """
    others: dict[str, set[str]] = defaultdict(set)
    for holder, owner in disputes:
        if holder != owner:
            others[holder].add(owner)
            others[owner].add(holder)
    return {
        name: f"sent or made shares that do not fit those of {listed(sorted(them))}."
        for name, them in sorted(others.items())
        if len(them) >= AT_ODDS and all(len(others[other]) < len(them) for other in them)
    }


def _sets(places: list[int], needed: int) -> Iterator[tuple[int, ...]]:
    """All sets of so many, or where these are too many some of them, the same ones each time."""
    if comb(len(places), needed) <= TRIES:
        yield from combinations(places, needed)
        return
    yield tuple(places[:needed])
    chance = np.random.default_rng(0)
    for _ in range(TRIES - 1):
        yield tuple(places[i] for i in np.sort(chance.permutation(len(places))[:needed]))


def _unfit(shares: Mapping[int, int], through: Mapping[int, int]) -> frozenset[int]:
    """The places whose shares are not on the polynomial through some; empty where another one could be meant.

    Two polynomials with the same secret have at most needed - 2 other points in common: with more than half of the
    spare shares against it, one that fits better may exist.
    """
    unfit = {place for place in shares if place not in through and shamir.combine(through, place) != shares[place]}
    return frozenset(unfit if 2 * len(unfit) <= len(shares) - len(through) + 1 else ())

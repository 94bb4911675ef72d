"""The server's side of one secure sum: masked numbers and shares in, the total out. No secrets, no randomness.

A run whose server died is told the same replies again and comes to the same total.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from fedsieve.arrays import Bytes, Ring
from fedsieve.messages.secure_sum import KEY
from fedsieve.privacy.secure_sum import masks
from fedsieve.privacy.secure_sum.rebuilding import rebuilt
from fedsieve.privacy.secure_sum.statements import Sum


@dataclass(frozen=True)
class Gathered:
    """What sites sent for one sum: the survivors' numbers, and their shares of every secret, `needed` at least."""

    sharing: tuple[str, ...]  # whose masks are in the numbers
    numbers: Mapping[str, Ring]  # of the survivors, in the order of their names
    seeds: Mapping[str, Mapping[int, int]]  # survivor -> place of who holds it -> share
    keys: Mapping[str, Mapping[int, int]]  # lost site -> place -> share
    needed: int
    doubted: Collection[int] = ()  # places whose shares did not fit in an earlier sum


@dataclass(frozen=True)
class Unmasked:
    """The sum of the survivors' numbers, and which shares did not fit: place of the holder, name of the owner."""

    total: Ring
    unfit: list[tuple[int, str]] = field(default_factory=list)


def unmasked(this: Sum, got: Gathered, public: Mapping[str, Bytes]) -> Unmasked:
    """The total; `public` are the keys and digests that each site announced for the sum.

    Raises `ProtocolError` where no shares give the announced secret: never a wrong sum.
    """
    survivors = tuple(got.numbers)
    size = len(next(iter(got.numbers.values())))
    done = Unmasked(np.zeros(size, dtype=np.uint64))
    total, doubted = done.total, set(got.doubted)

    def secret(owner: str, shares: Mapping[int, int], announced: bytes, kind: str) -> bytes:
        told = masks.seed_digest if kind == "seed" else masks.public_key
        found = rebuilt(owner, shares, got.needed, lambda value: told(_bytes(value)) == announced, doubted)
        done.unfit.extend((place, owner) for place in sorted(found.unfit))
        doubted.update(found.unfit)
        return _bytes(found.secret)

    for values in got.numbers.values():
        total += values
    for name in survivors:
        seed = secret(name, got.seeds[name], public[name][KEY:].tobytes(), "seed")
        total -= masks.own_mask(this, seed, name, size)
    for lost in (name for name in got.sharing if name not in got.numbers):
        key = secret(lost, got.keys[lost], public[lost][:KEY].tobytes(), "key")
        for name in survivors:
            mask = masks.pair_mask(this, key, public[name][:KEY].tobytes(), (name, lost), size)
            if name < lost:
                total -= mask
            else:
                total += mask
    return done


def _bytes(value: int) -> bytes:
    return value.to_bytes(KEY, "big") if value < 2 ** (8 * KEY) else bytes(KEY)

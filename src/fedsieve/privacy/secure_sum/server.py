"""The server's side of one secure sum: masked numbers and shares in, the total out. No secrets, no randomness.

A run whose server died is told the same replies again and comes to the same total.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bytes, Ring
from fedsieve.errors import ProtocolError
from fedsieve.messages.secure_sum import KEY
from fedsieve.privacy.secure_sum import masks, shamir


@dataclass(frozen=True)
class Gathered:
    """What sites sent for one sum: the survivors' numbers and, from enough of them, their shares of every secret."""

    sharing: tuple[str, ...]  # whose masks are in the numbers
    numbers: Mapping[str, Ring]  # of the survivors, in the order of their names
    seeds: Mapping[str, Mapping[int, int]]  # survivor -> place of who holds it -> share
    keys: Mapping[str, Mapping[int, int]]  # lost site -> place -> share


def unmasked(this: masks.Sum, got: Gathered, public: Mapping[str, Bytes]) -> Ring:
    """The sum of the survivors' numbers; `public` are the keys and digests that each site announced for the sum.

    Raises `ProtocolError` where shares give another secret than the announced one: never a wrong sum.
    """
    survivors = tuple(got.numbers)
    size = len(next(iter(got.numbers.values())))
    total: Ring = np.zeros(size, dtype=np.uint64)
    for values in got.numbers.values():
        total += values
    for name in survivors:
        seed = _secret(got.seeds[name])
        if masks.seed_digest(seed) != public[name][KEY:].tobytes():
            raise _wrong(name)
        total -= this.own_mask(seed, name, size)
    for lost in (name for name in got.sharing if name not in got.numbers):
        key = _secret(got.keys[lost])
        if masks.public_key(key) != public[lost][:KEY].tobytes():
            raise _wrong(lost)
        for name in survivors:
            mask = this.pair_mask(key, public[name][:KEY].tobytes(), (name, lost), size)
            if name < lost:
                total -= mask
            else:
                total += mask
    return total


def _secret(shares: Mapping[int, int]) -> bytes:
    value = shamir.combine(shares)
    return value.to_bytes(KEY, "big") if value < 2 ** (8 * KEY) else bytes(KEY)


def _wrong(name: str) -> ProtocolError:
    return ProtocolError(
        f"the shares of {name!r} give another secret than it announced: it, or a site that holds a share, did not "
        "follow the protocol. The total is not used; start a new run."
    )

"""Random damage to encoded messages, and one or more messages of every kind to damage."""

import hashlib
from collections.abc import Callable
from functools import cache

import numpy as np

from fedsieve import messages as m
from fedsieve.transport.codec import DIGEST, LENGTH, MAGIC
from message_examples import examples_of, kinds


@cache
def examples() -> dict[str, list[m.Request | m.Reply]]:
    """Messages of every kind by its name; with fields that are `None`, empty names and names in other scripts."""
    return {kind.__name__: examples_of(kind) for kind in kinds()}


def sealed(body: bytes) -> bytes:
    """The bytes with the digest that makes them look untouched."""
    return body + hashlib.sha256(body).digest()


def mutated(name: str, data: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """`data` changed in the named way, never into itself or into `other`, which is a message too."""
    changed = MUTATIONS[name](data, other, rng)
    while changed in (data, other):
        position = int(rng.integers(len(data)))
        changed = data[:position] + bytes([data[position] ^ int(rng.integers(1, 256))]) + data[position + 1 :]
    return changed


def _cuts(data: bytes, rng: np.random.Generator, n_cuts: int) -> list[int]:
    return sorted(int(cut) for cut in rng.integers(0, len(data) + 1, n_cuts))


def _bits(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(0, 8 * len(data), int(rng.integers(1, 9))):
        changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


def _overwritten(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    a, b = _cuts(data, rng, 2)
    return data[:a] + rng.bytes(b - a) + data[b:]


def _cut_out(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    a, b = _cuts(data, rng, 2)
    return data[:a] + data[b:]


def _inserted(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    (a,) = _cuts(data, rng, 1)
    return data[:a] + rng.bytes(int(rng.integers(1, 40))) + data[a:]


def _swapped(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    a, b, c, d = _cuts(data, rng, 4)
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _spliced(data: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    return data[: _cuts(data, rng, 1)[0]] + other[_cuts(other, rng, 1)[0] :]


def _other_version(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    """Sealed again, so that only the version tells it apart."""
    return sealed(rng.choice([b"FSV0", b"FSV1", b"FSV9", b"fsv2", rng.bytes(4)]).ljust(4) + data[len(MAGIC) : -DIGEST])


def _other_length(data: bytes, _other: bytes, rng: np.random.Generator) -> bytes:
    start = len(MAGIC)
    return sealed(MAGIC + LENGTH.pack(int(rng.integers(2**32))) + data[start + LENGTH.size : -DIGEST])


MUTATIONS: dict[str, Callable[[bytes, bytes, np.random.Generator], bytes]] = {
    "bits flipped": _bits,
    "bytes overwritten": _overwritten,
    "end cut off": lambda data, _, rng: data[: _cuts(data, rng, 1)[0]],
    "start cut off": lambda data, _, rng: data[_cuts(data, rng, 1)[0] :],
    "block cut out": _cut_out,
    "bytes inserted": _inserted,
    "blocks swapped": _swapped,
    "two messages in one": lambda data, other, _: data + other,
    "head of one, tail of another": _spliced,
    "another version, sealed": _other_version,
    "another header length, sealed": _other_length,
    "another's digest": lambda data, other, _: data[:-DIGEST] + other[-DIGEST:],
}

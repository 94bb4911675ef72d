"""Random mutations of every message kind through the decoder: each must raise `CodecError` and nothing else."""

from collections import Counter

import numpy as np

from fedsieve.errors import CodecError
from fedsieve.transport.codec import DIGEST, decode, encode
from transport.mutations import MUTATIONS, examples, mutated, sealed


def damaged(kind: str, n: int, seed: int) -> Counter[str]:
    """Counts of `refused`, `accepted` and `crashed` among n mutations of one kind, every way of damage in turn."""
    rng = np.random.default_rng(seed)
    encoded = {name: [encode(message) for message in some] for name, some in examples().items()}
    mine, all_of_them = encoded[kind], [data for some in encoded.values() for data in some]
    ways, counts = list(MUTATIONS), Counter[str]()
    for i in range(n):
        data, other = mine[i % len(mine)], all_of_them[rng.integers(len(all_of_them))]
        counts[_fate(mutated(ways[i % len(ways)], data, other, rng))] += 1
    return counts


def resealed(kind: str, n: int, seed: int) -> Counter[str]:
    """The same with the digest made right again: what is still read must be a message that encodes and reads alike."""
    rng = np.random.default_rng(seed)
    encoded = [encode(message) for message in examples()[kind]]
    ways = ("bits flipped", "bytes overwritten", "block cut out", "bytes inserted", "blocks swapped")
    counts = Counter[str]()
    for i in range(n):
        body = encoded[i % len(encoded)][:-DIGEST]
        counts[_fate(sealed(mutated(ways[i % len(ways)], body, b"", rng)))] += 1
    return counts


def _fate(data: bytes) -> str:
    try:
        message = decode(data)
    except CodecError:
        return "refused"
    except Exception as error:
        return f"crashed: {type(error).__name__}"
    again = encode(message)
    return "accepted" if encode(decode(again)) == again else "crashed: read in two ways"

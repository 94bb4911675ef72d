"""Numbers as integers modulo 2**64, which masks hide perfectly and which add up exactly.

A number is multiplied by a power of two, 2**f, that follows from the most which the total can be, and rounded; whole
numbers stay as they are. What does not fit is refused, never clipped.
"""

import numpy as np

from fedsieve.arrays import Float, Int, Ring
from fedsieve.errors import ProtocolError
from fedsieve.messages.base import Addend

BITS = 61  # of a total in absolute value: one bit is left for the rounding of many sites, one for the sign
ROOM = 1e-9  # by which rounding may carry a sum over its bound


def fraction_bits(addend: Addend) -> Int:
    """The power of two by which numbers are multiplied, f, one for each or one for all.

    >>> int(fraction_bits(Addend((2,), 1000.0)))
    51
    """
    most = np.asarray(addend.most, dtype=np.float64)
    exponent = np.frexp(most * (1 + ROOM))[1].astype(np.int64)
    if addend.whole:
        if np.any(exponent > BITS):
            raise ProtocolError(
                f"cannot add up whole numbers of up to {most.max():g}: a sum has {BITS} bits. Agree on fewer rows "
                "(max_rows)."
            )
        return np.zeros_like(exponent)
    return BITS - exponent


def error(addend: Addend, n_sites: int) -> Float:
    """How far each total of so many sites may be from the sum of the numbers: n_sites * 2**-(f + 1); of counts 0."""
    bits = fraction_bits(addend)
    return np.where(addend.whole, 0.0, np.ldexp(float(n_sites), -(bits + 1)))


def to_ring(values: np.ndarray, here: Addend, total: Addend) -> Ring:
    """The integers of one site's numbers; `here` says how large these can be, and `total` those of all sites."""
    if values.shape != total.shape:
        raise ProtocolError(f"would add numbers of shape {values.shape} to a sum of shape {total.shape}.")
    if not np.all(np.abs(values) <= np.asarray(here.most) * (1 + ROOM)) or np.any(here.most > np.asarray(total.most)):
        raise ProtocolError("has numbers beyond the bounds of the sum, which are never clipped.")
    if total.whole:
        return values.astype(np.int64).ravel().view(np.uint64)
    ring: Ring = np.rint(np.ldexp(values, fraction_bits(total))).astype(np.int64).ravel().view(np.uint64)
    return ring


def from_ring(ring: Ring, total: Addend) -> np.ndarray:
    """The numbers of a total."""
    whole = ring.view(np.int64).reshape(total.shape)
    return whole.copy() if total.whole else np.ldexp(whole.astype(np.float64), -fraction_bits(total))


def sizes(addends: tuple[Addend, ...]) -> list[int]:
    """How many numbers each is."""
    return [int(np.prod(addend.shape, dtype=np.int64)) for addend in addends]

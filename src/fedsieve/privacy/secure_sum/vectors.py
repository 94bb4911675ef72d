"""A reply as one list of integers modulo 2**64, and the reply of a total back from the sum of such lists."""

import numpy as np

from fedsieve.arrays import Ring
from fedsieve.messages.base import Addend, Reply, Request
from fedsieve.privacy.secure_sum import fixed_point


def told_of(request: Request) -> str:
    """What a sum tells of; all such sums of a run are of the same sites."""
    return request.tells_of or type(request).__name__


def layout(request: Request, n_rows: int) -> tuple[Addend, ...]:
    """What a list is made of, the number of rows first; `n_rows` are those of all sites, or a bound of them.

    What leaves with noise only has no number of rows but its own.
    """
    counted = () if request.noisy else (Addend((1,), n_rows, whole=True),)
    return *counted, *request.addends(n_rows)


def length(request: Request, n_rows: int) -> int:
    """How many integers a list has."""
    return sum(fixed_point.sizes(layout(request, n_rows)))


def ring_of(request: Request, reply: Reply, n_rows: int) -> Ring:
    """One site's list; `ProtocolError` where its numbers are larger than its own rows allow."""
    counted = () if request.noisy else (np.array([reply.n_rows]),)
    here = layout(request, n_rows if request.noisy else reply.n_rows)
    parts = zip((*counted, *request.numbers(reply)), here, layout(request, n_rows), strict=True)
    return np.concatenate([fixed_point.to_ring(*part) for part in parts])


def reply_of(request: Request, ring: Ring, n_rows: int, n_sites: int) -> Reply:
    """The reply of so many sites together, from the sum of their lists."""
    addends = layout(request, n_rows)
    ends = np.cumsum(fixed_point.sizes(addends))[:-1]
    parts = zip(np.split(ring, ends), addends, strict=True)
    numbers = [fixed_point.from_ring(part, addend) for part, addend in parts]
    errors = [fixed_point.error(addend, n_sites) for addend in addends]
    if not request.noisy:
        n_rows, numbers, errors = int(numbers[0][0]), numbers[1:], errors[1:]
    reply: Reply = request.reply_of(n_rows, tuple(numbers), tuple(errors))
    return reply

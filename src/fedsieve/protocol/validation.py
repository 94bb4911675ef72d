"""What makes a client's reply believable: the rules that hold for any rows, checked before a number is used.

Each check yields the first rule a reply breaks; the server adds the client's name. A dishonest client can still send
numbers that some table could have produced; these rules only keep out what no table could.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import listed
from fedsieve.kernels.bounds import MAX_ROWS
from fedsieve.protocol import messages as m

SLACK = 1e-9  # relative room for rounding in sums that were taken in another order

REPLY_TO: dict[type, type] = {
    m.AskRanges: m.Ranges,
    m.AskMoments: m.Moments,
    m.AskRelations: m.Relations,
    m.AskPairSums: m.PairSums,
    m.AskProducts: m.Products,
}


@dataclass(frozen=True, eq=False)
class Expected:
    """What the server knows of a reply beforehand."""

    nominal: tuple[str, ...]
    may_miss: bool
    n_rows: int | None  # known from the client's first reply on


def why_refused(request: m.Request, reply: object, expected: Expected) -> str | None:
    """The first rule that `reply` breaks as an answer to `request`, in words; `None` where it breaks none."""
    if isinstance(reply, m.Refusal):
        return reply.reason
    wanted = REPLY_TO[type(request)]
    if type(reply) is not wanted:
        return f"answered {type(request).__name__} with {type(reply).__name__}; expected {wanted.__name__}."
    return next(_complaints(request, reply, expected), None)


def _complaints(request: m.Request, reply: object, expected: Expected) -> Iterator[str]:
    match request, reply:
        case m.AskRanges() | m.AskMoments(), m.Ranges() | m.Moments():
            yield from _names(reply.features, request.columns.features)
        case m.AskRelations() | m.AskPairSums(), m.Relations() | m.PairSums():
            yield from _names(reply.features, request.relation.columns.features)
    match reply:
        case m.Ranges(n_rows, features, low, high):
            yield from _rows(n_rows, expected)
            yield from _shape("low", low, (len(features),))
            yield from _shape("high", high, (len(features),))
            yield from _ranges(reply, expected)
        case m.Moments(n_rows, features, count, mean, m2):
            yield from _rows(n_rows, expected)
            for name, array in (("count", count), ("mean", mean), ("m2", m2)):
                yield from _shape(name, array, (len(features),))
                yield from _finite(name, array)
            yield from _moments(reply, expected)
        case m.Relations(n_rows, features, values):
            yield from _rows(n_rows, expected)
            yield from _shape("values", values, (len(features), n_rows, n_rows))
            yield from _finite("values", values)
            yield from _relations(values)
        case m.PairSums(n_rows, features, upper):
            yield from _rows(n_rows, expected)
            yield from _shape("upper", upper, (len(features) * (len(features) + 1) // 2,))
            yield from _finite("upper", upper)
            yield from _pair_sums(reply.matrix(), n_rows)
        case m.Products(n_rows, values):
            assert isinstance(request, m.AskProducts)
            yield from _rows(n_rows, expected)
            yield from _shape("values", values, request.vector.shape)
            yield from _finite("values", values)
            yield from _products(reply, request.vector)


def _names(answered: tuple[str, ...], asked: tuple[str, ...]) -> Iterator[str]:
    if answered != asked:
        absent = [name for name in asked if name not in answered]
        detail = f"missing: {listed(absent)}" if absent else "others, or in another order"
        yield (
            f"answered for {len(answered)} features, the plan has {len(asked)} ({detail}). "
            "Check its columns against the plan's list."
        )


def _rows(n_rows: int, expected: Expected) -> Iterator[str]:
    if type(n_rows) is not int or n_rows >= MAX_ROWS:
        yield f"sent {str(n_rows)[:20]} as its number of rows; it must be a whole number below {MAX_ROWS}."
    if n_rows < 2:
        yield f"has {n_rows} row{'s' * (n_rows != 1)}; a client needs at least 2, since a single row has no spread."
    if expected.n_rows is not None and n_rows != expected.n_rows:
        yield f"answered for {n_rows} rows, before for {expected.n_rows}. Its data changed during the run."


def _shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> Iterator[str]:
    if not isinstance(array, np.ndarray) or array.dtype not in (np.float64, np.int64):
        yield f"sent {name} as {type(array).__name__}, no array of numbers."
    if array.shape != shape:
        yield f"sent {name} of shape {array.shape}; the plan needs {shape}."


def _finite(name: str, array: np.ndarray) -> Iterator[str]:
    bad = int((~np.isfinite(array)).sum())
    if bad:
        yield f"sent {bad} values in {name} that are not finite numbers."


def _ranges(reply: m.Ranges, expected: Expected) -> Iterator[str]:
    empty = (reply.low == np.inf) & (reply.high == -np.inf) & expected.may_miss
    broken = ~empty & ~(np.isfinite(reply.low) & np.isfinite(reply.high) & (reply.low <= reply.high))
    if broken.any():
        p = int(np.argmax(broken))
        yield (
            f"sent the range [{reply.low[p]}, {reply.high[p]}] for {reply.features[p]!r}; "
            "it must be finite with low <= high."
        )


def _moments(reply: m.Moments, expected: Expected) -> Iterator[str]:
    low = 0 if expected.may_miss else reply.n_rows
    if np.any((reply.count < low) | (reply.count > reply.n_rows)):
        yield f"sent counts outside [{low}, {reply.n_rows}], its number of rows."
    if type(reply.n_clipped) is not int or reply.n_clipped < 0 or reply.n_clipped > reply.n_rows * len(reply.features):
        yield f"clipped {reply.n_clipped} values of {reply.n_rows * len(reply.features)}."
    scaled = ~np.isin(reply.features, expected.nominal)
    if np.any((reply.mean < -SLACK) & scaled) or np.any((reply.mean > 1 + SLACK) & scaled):
        yield "sent a mean outside [0, 1] for a scaled feature."
    # Values in [0, 1] cannot spread further than half of them at each end.
    if np.any(reply.m2 < 0) or np.any((reply.m2 > reply.count / 4 * (1 + SLACK)) & scaled):
        yield "sent a spread that no values in [0, 1] have."


def _relations(values: Float) -> Iterator[str]:
    if np.any(values < 0) or np.any(values > 1):
        yield "sent relations with entries outside [0, 1]."
    for matrix in values:  # one at a time: the whole stack may be large
        if not np.array_equal(matrix, matrix.T):
            yield "sent a relation that is not symmetric."
        if np.any(np.diagonal(matrix) != 1):
            yield "sent a relation that is not reflexive (1 on the diagonal)."


def _pair_sums(sums: Float, n_rows: int) -> Iterator[str]:
    own = np.diagonal(sums)
    if np.any(own < n_rows * (1 - SLACK)) or np.any(own > n_rows**2 * (1 + SLACK)):
        yield f"sent sums S_p outside [n, n²] = [{n_rows}, {n_rows**2}]."
    if np.any(sums < 0):
        yield "sent pair sums below 0."
    if np.any(sums > np.minimum(own[:, None], own[None, :]) * (1 + SLACK)):
        yield "sent pair sums S_pb above min(S_p, S_b)."


def _products(reply: m.Products, vector: Float) -> Iterator[str]:
    most = reply.n_rows**2 * float(vector.sum())  # every distance is at most 1, and so is n² times it at most n²
    if np.any(reply.values < -SLACK * most) or np.any(reply.values > (1 + SLACK) * most):
        yield f"sent products outside [0, {most:.6g}], the bounds for {reply.n_rows} rows."

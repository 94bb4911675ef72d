"""What makes a client's reply believable: the rules that hold for any rows, checked before a number is used.

Each check yields the first rule a reply breaks; the server adds the client's name. A dishonest client can still send
numbers that some table could have produced; these rules only keep out what no table could.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import listed
from fedsieve.kernels.bounds import MAX_ROWS
from fedsieve.protocol import messages as m
from fedsieve.protocol.labeled_rules import covariance_complaints, information_complaints, information_of_ranges
from fedsieve.protocol.moment_rules import moment_complaints, moments_of_ranges, spread_complaints
from fedsieve.protocol.scaled_rules import (
    encoded_complaints,
    encoded_moments,
    encoded_of_ranges,
    encoding_of,
    projection_complaints,
)
from fedsieve.protocol.site import LARGEST
from fedsieve.protocol.ssfmlfs.line import unlike_a_line
from fedsieve.protocol.ssfmlfs.metric import SLACK, pair_sum_complaints, product_complaints

MAX_REASON = 1000  # characters of a client's own words that are passed on


@dataclass(frozen=True, eq=False)
class Expected:
    """What the server knows of a reply beforehand."""

    nominal: tuple[str, ...]
    may_miss: bool
    n_rows: int | None  # known from the client's first reply on
    before: tuple[m.Request, m.Reply] | None = None  # the client's last ranges or products, which later ones must fit
    max_sites: int = 1  # behind this client, which may be an edge server


def why_refused(request: m.Request, reply: object, expected: Expected) -> str | None:
    """The first rule that `reply` breaks as an answer to `request`, in words; `None` where it breaks none."""
    if isinstance(reply, m.Refusal):
        return reply.reason[:MAX_REASON].strip() or "refused without a reason."
    wanted = m.REPLY_TO[type(request)]
    if type(reply) is not wanted:
        return f"answered {type(request).__name__} with {type(reply).__name__}; expected {wanted.__name__}."
    return next(chain(_complaints(request, reply, expected), _contradictions(request, reply, expected)), None)


def _complaints(request: m.Request, reply: object, expected: Expected) -> Iterator[str]:
    match request, reply:
        case m.AskRanges() | m.AskMoments(), m.Ranges() | m.Moments():
            yield from _names(reply.features, request.columns.features)
        case m.AskRelations() | m.AskPairSums(), m.Relations() | m.PairSums():
            yield from _names(reply.features, request.relation.columns.features)
        case m.AskInformation() | m.AskCovariances(), m.Information() | m.Covariances():
            yield from _names(reply.features, request.columns.features)
            yield from _names(reply.labels, request.labels, "labels")
        case m.AskScaledCovariances() | m.AskProjections(), m.Covariances() | m.Projections():
            yield from _names(reply.features, encoding_of(request).names, "columns")
            yield from _names(getattr(reply, "labels", ()), (), "labels")
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
            yield from moment_complaints(reply, expected.nominal, expected.may_miss)
            assert isinstance(request, m.AskMoments)
            yield from spread_complaints(reply, request.scaling, expected.nominal)
        case m.Relations(n_rows, features, values):
            yield from _rows(n_rows, expected)
            yield from _shape("values", values, (len(features), n_rows, n_rows))
            yield from _finite("values", values)
            yield from _relations(values)
            assert isinstance(request, m.AskRelations)
            yield from _one_column_each(values, request.relation)
        case m.PairSums(n_rows, features, upper):
            yield from _rows(n_rows, expected)
            yield from _shape("upper", upper, (len(features) * (len(features) + 1) // 2,))
            yield from _finite("upper", upper)
            assert isinstance(request, m.AskPairSums)
            yield from pair_sum_complaints(reply.matrix(), n_rows, request.relation, expected.max_sites)
        case m.Products(n_rows, values):
            assert isinstance(request, m.AskProducts)
            yield from _rows(n_rows, expected)
            yield from _shape("values", values, request.vector.shape)
            yield from _finite("values", values)
            yield from product_complaints(reply, request.vector)
        case m.Information(n_rows, features, labels, relevance, apart):
            assert isinstance(request, m.AskInformation)
            yield from _rows(n_rows, expected)
            yield from _shape("relevance", relevance, (len(features), len(labels)))
            yield from _shape("apart", apart, (len(features) * (len(features) - 1) // 2,))
            yield from _finite("relevance", relevance)
            yield from _finite("apart", apart)
            yield from information_complaints(reply, request.n_bins)
        case m.Covariances(n_rows, features, labels, mean, upper):
            n_variables = len(features) + len(labels)
            yield from _rows(n_rows, expected)
            yield from _shape("mean", mean, (n_variables,))
            yield from _shape("upper", upper, (n_variables * (n_variables + 1) // 2,))
            yield from _finite("mean", mean)
            yield from _finite("upper", upper)
            yield from covariance_complaints(reply)
            if isinstance(request, m.AskScaledCovariances):
                yield from encoded_complaints(encoding_of(request), n_rows, *encoded_moments(reply))
        case m.Projections(n_rows, features, mean, m2, sum_mean, products):
            assert isinstance(request, m.AskProjections)
            n_sums = request.weights.shape[1]
            yield from _rows(n_rows, expected)
            for name, array, shape in (
                ("mean", mean, (len(features),)),
                ("m2", m2, (len(features),)),
                ("sum_mean", sum_mean, (n_sums,)),
                ("products", products, (len(features), n_sums)),
            ):
                yield from _shape(name, array, shape)
                yield from _finite(name, array)
            yield from encoded_complaints(encoding_of(request), n_rows, mean, m2)
            yield from projection_complaints(reply, request.weights)
        case m.PartialCorrelations(n_rows, values):
            assert isinstance(request, m.AskPartialCorrelations)
            yield from _rows(n_rows, expected)
            yield from _shape("values", values, request.first.shape)
            if np.any(np.abs(values) > 1):
                yield "sent correlations outside [-1, 1]."


def _names(answered: tuple[str, ...], asked: tuple[str, ...], what: str = "features") -> Iterator[str]:
    if answered != asked:
        absent = [name for name in asked if name not in answered]
        detail = f"missing: {listed(absent)}" if absent else "others, or in another order"
        yield (
            f"answered for {len(answered)} {what}, the plan has {len(asked)} ({detail}). "
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
    broken = ~empty & ~((reply.low >= -LARGEST) & (reply.low <= reply.high) & (reply.high <= LARGEST))
    if broken.any():
        p = int(np.argmax(broken))
        yield (f"sent a bad range for {reply.features[p]!r}; it must be finite with low <= high, within ±{LARGEST:g}.")


def _relations(values: Float) -> Iterator[str]:
    if np.any(values < 0) or np.any(values > 1):
        yield "sent relations with entries outside [0, 1]."
    for matrix in values:  # one at a time: the whole stack may be large
        if not np.array_equal(matrix, matrix.T):
            yield "sent a relation that is not symmetric."
        if np.any(np.diagonal(matrix) != 1):
            yield "sent a relation that is not reflexive (1 on the diagonal)."


def _one_column_each(values: Float, relation: m.Relation) -> Iterator[str]:
    """Each matrix must be the relation of one column of values."""
    columns = relation.columns
    for name, radius, matrix in zip(columns.features, relation.radius, values, strict=True):
        reason = unlike_a_line(
            matrix, float(radius), relation.kind, name in columns.nominal, may_miss=columns.missing == "unrelated"
        )
        if reason:
            yield f"sent a relation for {name!r} that no column has: {reason}."


def _contradictions(request: m.Request, reply: object, expected: Expected) -> Iterator[str]:
    match expected.before, request, reply:
        case (m.AskRanges(), m.Ranges() as ranges), m.AskMoments(scaling=scaling), m.Moments():
            yield from moments_of_ranges(ranges, scaling, reply, ~np.isin(reply.features, expected.nominal))
        case (m.AskRanges(), m.Ranges() as ranges), m.AskInformation(), m.Information():
            yield from information_of_ranges(ranges, request, reply)
        case (
            (m.AskRanges(), m.Ranges() as ranges),
            m.AskScaledCovariances() | m.AskProjections(),
            m.Covariances() | m.Projections(),
        ):
            yield from encoded_of_ranges(ranges, request, reply)
        case (m.AskProducts(vector=earlier), m.Products() as product), m.AskProducts(relation=None), m.Products():
            # D is symmetric: u·Dv = v·Du. Room for rounding in proportion to what is added up.
            one, other = float(earlier @ reply.values), float(request.vector @ product.values)
            if abs(one - other) > SLACK * reply.n_rows**2 * float(earlier.sum()) * float(request.vector.sum()):
                yield "sent products that contradict its earlier ones: no symmetric distance has both."

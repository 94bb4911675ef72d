"""What a malicious operator asks: requests that no honest run makes, and what they give away if they are answered.

Each attack takes one site as `Asked` and returns its guess. A refusal ends it, with `RefusedError`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.fuzzy.graph import per_edge, updated_scores
from fedsieve.messages import Refusal, Reply, Request, Scaling
from fedsieve.messages.columns import Columns, square
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.partial_correlations import AskPartialCorrelations
from fedsieve.messages.products import AskProducts
from fedsieve.messages.projections import AskProjections
from fedsieve.messages.relation import Relation

N_HALVINGS = 60
TINIEST = 2.0**-1074  # the smallest number above 0: a product of less than half of it is rounded to 0


class RefusedError(Exception):
    """The site did not answer: the attack failed."""


class Asked:
    """One site, as an attacker meets it; counts the requests."""

    def __init__(self, ask: Callable[[Request], Reply]) -> None:
        self._ask, self.n_requests = ask, 0

    def __call__(self, request: Request) -> Any:
        """The reply; a refusal ends the attack."""
        self.n_requests += 1
        reply = self._ask(request)
        if isinstance(reply, Refusal):
            raise RefusedError(reply.reason)
        return reply


def clipping(columns: Columns, at: Float, top: Float) -> Relation:
    """Values up to a threshold become equal, those beyond stay apart; equal rows alone are related."""
    return Relation(columns, Scaling(at, top), np.zeros(len(at)), "distance")


def rows_up_to(pair_sums: Float, n_rows: int) -> Float:
    """How many rows each threshold clips, from S_p = c² + (n - c)."""
    own = np.diagonal(pair_sums)
    return np.round((1 + np.sqrt(1 + 4 * (own - n_rows))) / 2)


def kth_smallest(ask: Asked, columns: Columns, low: Float, top: Float, k: int) -> Float:
    """SSFMLFS, chosen scaling: the k-th smallest value (k >= 2) of every column, by halving; all columns at a time."""
    left, right = low.copy(), top.copy()
    for _ in range(N_HALVINGS):
        at = (left + right) / 2
        reply = ask(AskPairSums(clipping(columns, at, top)))
        enough = rows_up_to(reply.matrix(), reply.n_rows) >= k
        left, right = np.where(enough, left, at), np.where(enough, at, right)
    return right


def all_values(ask: Asked, columns: Columns, low: Float, top: Float, n_rows: int, step: float) -> list[list[float]]:
    """SSFMLFS, chosen scaling: all values of every column but the smallest, where they are different whole steps.

    Thresholds halve each interval that still holds a value, until it is one step wide. Where two thresholds clip as
    many rows, no value lies between; none or one clipped row look alike.
    """
    n_steps = int(np.round((top[0] - low[0]) / step))
    open_ = [[(0, n_steps, 1, n_rows)] for _ in low]  # ends in steps, and the rows clipped at each, at least 1
    found: list[list[float]] = [[] for _ in low]
    while any(open_):
        asked = [intervals.pop() if intervals else None for intervals in open_]
        middle = np.array([0 if interval is None else (interval[0] + interval[1]) // 2 for interval in asked])
        at = low + (middle + 0.5) * step
        clipped = rows_up_to(ask(AskPairSums(clipping(columns, at, top))).matrix(), n_rows)
        for place, interval in enumerate(asked):
            if interval is None:
                continue
            (left, right, before, after), between = interval, int(clipped[place])
            halves = (left, int(middle[place]), before, between), (int(middle[place]), right, between, after)
            for start, end, less, more in halves:
                if end - start == 1:
                    found[place] += [float(low[place] + end * step)] * (more - less)
                elif more > less:
                    open_[place].append((start, end, less, more))
    return found


def extreme_row(ask: Asked, columns: Columns, low: Float, top: Float, n_rows: int) -> Float:
    """SSFMLFS, chosen scaling: the whole row that holds the first column's largest value.

    A threshold between it and the next value makes it a lone row; S_pb then says how many rows it equals in b: one,
    itself, where its value lies beyond b's threshold.
    """
    largest, next_one = (kth_smallest(ask, columns, low, top, k)[0] for k in (n_rows, n_rows - 1))
    left, right = low.copy(), top.copy()
    for _ in range(N_HALVINGS):
        at = (left + right) / 2
        at[0] = (largest + next_one) / 2
        sums = ask(AskPairSums(clipping(columns, at, top))).matrix()
        equals = np.round((np.diagonal(sums) - sums[0] + 2) / 2)
        beyond = equals == 1
        left, right = np.where(beyond, at, left), np.where(beyond, right, at)
    right[0] = largest
    return right


def distances_by_unit_vectors(ask: Asked, relation: Relation) -> Float:
    """SSFMLFS, chosen vectors: one column of the site's distances in each round."""
    d = len(relation.radius)
    unit = np.eye(d)
    return np.array([ask(AskProducts(None if i else relation, unit[i])).values for i in range(d)])


def covariances_by_identity(ask: Asked, columns: Columns, scaling: Scaling) -> Float:
    """Sieve, weights = identity: all covariances where only some may be asked for."""
    products: Float = ask(AskProjections(columns, scaling, np.eye(len(columns.features)))).products
    return products


def kth_largest_size(ask: Asked, columns: Columns, largest: Float, k: int) -> Float:
    """Sieve, rounding as a threshold: the k-th largest absolute value of every column, by halving.

    Ranges may be as wide as one likes as long as they hold all values. Here they are so wide that the square of a
    scaled value is near the smallest number there is, and is rounded to it or to 0: the sum of squares counts the rows
    beyond a threshold. Goes down to 1 / √3 of the largest, above which a square would count twice.
    """
    left: Float = largest / np.sqrt(3)
    right: Float = np.nextafter(largest, np.inf)
    for _ in range(N_HALVINGS):
        at = (left + right) / 2
        half = at * (2.0**536 * np.sqrt(2.0))  # (at / 2 half)² is half of the smallest number
        squares = np.diagonal(square(ask(AskCovariances(columns, Scaling(-half, half))).upper, len(at)))
        enough = squares / TINIEST >= k
        left, right = np.where(enough, at, left), np.where(enough, right, at)
    return left


def row_by_coarse_ranges(ask: Asked, columns: Columns, low: Float, high: Float) -> Float:
    """Sieve, rounding as a threshold: the row of the first column's largest value, without that value; or nothing.

    From a lower end of -2^52 steps on, x - low is a whole number of steps: values below half a step become 0. With
    ever smaller steps, the largest value is the first that does not.
    """
    for exponent in range(54, -54, -1):
        step, wide_low, wide_high = 2.0**exponent, low.copy(), high.copy()
        wide_low[0], wide_high[0] = -(2.0**52) * step, 2.0**52 * step
        reply = ask(AskCovariances(columns, Scaling(wide_low, wide_high)))
        line = square(reply.upper, len(low))[0] * 2.0**53  # in steps
        if reply.sums[0] * 2.0**53 == line[0] * 2.0**53 == 1:  # one row is one step away, all others none
            row: Float = line * (high - low) + (low + high) / 2
            return row[1:]
    return np.empty(0)


def rounds_of_pagerank(ask: Asked, relation: Relation, weights: Float, damping: float, n_rounds: int) -> int:
    """SSFMLFS, proper vectors without end, each following from the last total; how many were answered."""
    last = ask(AskProducts(relation, np.ones(len(weights))))
    degrees = last.values / float(last.n_rows) ** 2
    vector = weights * per_edge(degrees)
    for _ in range(1, n_rounds):
        last = ask(AskProducts(None, vector, weights, last))
        vector = updated_scores(weights, degrees, damping, last.values / float(last.n_rows) ** 2) * per_edge(degrees)
    return ask.n_requests


def row_that_joined(before: Asked, after: Asked, columns: Columns, scaling: Scaling) -> Float:
    """Any method, repetition: the row that a site has more than before, by subtraction of sums."""
    asked = AskCovariances(columns, scaling)
    assert scaling.low is not None
    assert scaling.high is not None
    middle, width = (scaling.low + scaling.high) / 2, scaling.high - scaling.low
    row: Float = (after(asked).sums - before(asked).sums) * width + middle
    return row


def all_correlations(ask: Asked, columns: Columns, labels: tuple[str, ...]) -> Float:
    """FedCMFS, tests of the server's choice: the correlation of every two columns, labels last, in one request."""
    n = len(columns.features) + len(labels)
    first, second = np.triu_indices(n, 1)
    given = np.empty((len(first), 0), dtype=np.int64)
    values: Float = ask(AskPartialCorrelations(columns, labels, first, second, given)).values
    return values

"""All rows of a continuous table of four rows, from exact ranges, moments and pair sums of SSFMLFS.

Extremes, mean and spread are four equations about a column's four values. Which values belong to one row, the pair sums
of two columns tell: of all orders of a column, one fits.
"""

from itertools import permutations

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float
from fedsieve.audit.score import NEAR
from fedsieve.messages.moments import Moments
from fedsieve.messages.pair_sums import AskPairSums, PairSums
from fedsieve.messages.ranges import Ranges
from fedsieve.messages.relation import Relation

N_ROWS = 4


def few_rows(ranges: Ranges, moments: Moments, request: AskPairSums, reply: PairSums) -> Float:
    """The rows, in some order; none where they are not four, or no order fits."""
    nothing = np.empty((0, len(reply.features)))
    if reply.n_rows != N_ROWS or reply.features != ranges.features:
        return nothing
    relation, sums = request.relation, reply.matrix()
    low, high = relation.scaling.low, relation.scaling.high
    if low is None or high is None:
        return nothing
    columns = _values((ranges.low - low) / (high - low), (ranges.high - low) / (high - low), moments)
    table = _joined(columns[:, :1], columns, sums, relation)
    return nothing if table is None else low + table * (high - low)


def _joined(table: Float, columns: Float, sums: Float, relation: Relation) -> Float | None:
    """The first columns, put in order, with all others in an order that fits the pair sums, if there is one."""
    place = table.shape[1]
    if place == columns.shape[1]:
        return table
    for order in permutations(columns[:, place]):
        tried = np.column_stack([table, order])
        told = kernels.pair_sums(tried, relation.radius[: place + 1], relation.kind)[place]
        if np.abs(told - sums[place, : place + 1]).max() < NEAR:
            whole = _joined(tried, columns, sums, relation)
            if whole is not None:
                return whole
    return None


def _values(least: Float, most: Float, moments: Moments) -> Float:
    """The four values of each scaled column: the two between have a known sum and a known sum of squares."""
    total = N_ROWS * moments.mean - least - most
    squares = moments.m2 + N_ROWS * moments.mean**2 - least**2 - most**2
    apart = np.sqrt(np.maximum(2 * squares - total**2, 0.0))
    return np.array([least, (total - apart) / 2, (total + apart) / 2, most])

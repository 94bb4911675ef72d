"""A row that one column alone leaves out: what is missing tells as much as a rare value, in any sums."""

from dataclasses import replace

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.messages.columns import square
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState

N_ROWS, VICTIM = 203, 77
BITS = (np.random.default_rng(5).random((N_ROWS, 6)) < 0.3).astype(float)


def pair_sums(columns, policy):
    """The pair sums and means of a site that may miss values, as an honest run asks for them; declared ranges."""
    X = np.column_stack(columns)
    names = tuple(f"x{p}" for p in range(X.shape[1]))
    method = SSFMLFSMethod(names, ranges=dict.fromkeys(names, (0.0, 1.0)), missing="unrelated", wire="statistics")
    site = Endpoint.of_table(ArrayTable(names, X), method, policy, Bare("run", ("a", "b", "c")), TransientState())
    ends = m.Scaling(np.zeros(len(names)), np.ones(len(names)), "declared")
    moments = decode(site.answer(encode(m.AskMoments(method.columns, ends))))
    relation = m.Relation(method.columns, ends, moments.deviation / method.lam, method.relation, moments)
    return decode(site.answer(encode(m.AskPairSums(relation)))).matrix(), moments.mean


def read_row(columns, policy, whole, gap):
    """The victim's bits, from the sums of each column with one that misses the victim and with one that does not."""
    S, mean = pair_sums(columns, policy)
    n_alike = (S[whole, :6] - S[gap, :6]) / 2 + 1  # rows that have the victim's value
    ones = np.round(N_ROWS * mean[:6])
    return np.where(np.abs(n_alike - ones) < np.abs(n_alike - (N_ROWS - ones)), 1.0, 0.0)


def gap(column, *rows):
    column = column.copy()
    column[list(rows)] = np.nan
    return column


CONSTANT = np.zeros(N_ROWS)
OTHERS = (3, 9, 27, 81, 100, 200)
ATTACKS = {
    "one value of a constant column is missing": (gap(CONSTANT, VICTIM), CONSTANT),
    "two columns miss the same rows but one": (gap(CONSTANT, VICTIM, *OTHERS), gap(CONSTANT, *OTHERS)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_row_that_one_column_misses_is_read_without_rules_and_not_under_site(name):
    columns = [*BITS.T, *ATTACKS[name]]
    np.testing.assert_array_equal(read_row(columns, LIBRARY, 7, 6), BITS[VICTIM])
    assert not np.array_equal(read_row(columns, SITE, 7, 6), BITS[VICTIM])
    np.testing.assert_array_equal(read_row(columns, replace(SITE, min_cell=0), 7, 6), BITS[VICTIM])


def sums_of_products(columns, policy, missing):
    """What Sieve asks of a site that misses values, by name; the server adds other rows to the totals as it likes."""
    X = np.column_stack(columns)
    names = tuple(f"x{p}" for p in range(X.shape[1]))
    method = SieveMethod(names, ranges=dict.fromkeys(names, (0.0, 1.0)), missing=missing)
    site = Endpoint.of_table(ArrayTable(names, X), method, policy, Bare("run", ("a", "b", "c")), TransientState())
    ends = m.Scaling(np.zeros(len(names)), np.ones(len(names)), "declared")
    own = decode(site.answer(encode(m.AskMeans(method.columns, ends))))
    total = m.Fill(own.n_rows + 400, own.present + 300, own.sums + 20.0)
    reply = decode(site.answer(encode(m.AskCovariances(method.columns, ends, fill=total))))
    products = square(reply.upper, len(reply.sums))
    return {"": reply.sums, **dict(zip(reply.features, products, strict=True))}, total.sums / total.present


def combined(columns, policy, missing, weights):
    """The victim's bits, where a sum of columns with these weights, and of the constant, is 1 in its row alone."""
    told, mean = sums_of_products(columns, policy, missing)
    weights = weights(mean)
    read = sum(weight * told[name] for name, weight in weights.items())[_bits(missing)]
    return np.clip(np.round(read + 0.5), 0, 1)


def _bits(missing):
    return slice(0, 12, 2) if missing == "indicator" else slice(0, 6)  # each with a column of its own behind it


BITS[VICTIM, 5] = 1.0
COPY = BITS[:, 5]
UNKNOWN = [*np.flatnonzero(COPY == 0)[:9].tolist(), VICTIM]  # the victim alone has a 1 among these
SUMS_THAT_TELL = {
    "one value is missing": ("indicator", (gap(CONSTANT, VICTIM),), lambda _: {"x6 is missing": 1}),
    "one value is missing, and a mean stands in": (
        "mean",
        (gap(CONSTANT, VICTIM),),
        lambda mean: {"x6": 1 / (mean[6] + 0.5), "": 0.5 / (mean[6] + 0.5)},
    ),
    "two columns miss the same rows but one": (
        "indicator",
        (gap(CONSTANT, VICTIM, *OTHERS), gap(CONSTANT, *OTHERS)),
        lambda _: {"x6 is missing": 1, "x7 is missing": -1},
    ),
    "a copy misses rows of which one is odd": (
        "indicator",
        (gap(COPY, *UNKNOWN),),
        lambda mean: {"x5": 1, "x6": -1, "x6 is missing": mean[6] + 0.5},
    ),
}


@pytest.mark.parametrize("name", SUMS_THAT_TELL)
def test_means_and_indicators_tell_of_a_row_without_rules_and_of_none_under_site(name):
    missing, gapped, weights = SUMS_THAT_TELL[name]
    columns = [*BITS.T, *gapped]
    np.testing.assert_array_equal(combined(columns, LIBRARY, missing, weights), BITS[VICTIM])
    assert not np.array_equal(combined(columns, SITE, missing, weights), BITS[VICTIM])
    np.testing.assert_array_equal(combined(columns, replace(SITE, min_cell=0), missing, weights), BITS[VICTIM])

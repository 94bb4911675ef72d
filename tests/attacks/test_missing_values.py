"""A row that one column alone leaves out: what is missing tells as much as a rare value, and pair sums tell it."""

from dataclasses import replace

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.methods import SSFMLFSMethod
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

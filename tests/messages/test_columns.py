"""What requests are made of: how columns are scaled, and which tables may stay sparse."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve.messages.columns import scaled
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.values import dense

ZEROS, ONES = np.zeros(2), np.ones(2)


def test_scaling_moves_the_range_to_zero_and_one_and_counts_what_it_clips():
    X = np.array([[0.0, 5.0, 3.0], [10.0, 5.0, np.nan], [25.0, 5.0, 1.0]])
    result, n_clipped = scaled(X, np.array([0, 5, 1.0]), np.array([20, 5, 3.0]), np.array([False, False, False]))
    assert_array_equal(result, [[0, 0, 1], [0.5, 0, np.nan], [1, 0, 0]])
    assert n_clipped == 1


def test_nominal_codes_are_neither_scaled_nor_clipped():
    X = np.array([[3.0], [99.0]])
    result, n_clipped = scaled(X, np.array([0.0]), np.array([10.0]), np.array([True]))
    assert_array_equal(result, X)
    assert n_clipped == 0


BINARY = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
IN_PARTS = sparse.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))  # 2 stored as 1 + 1


@pytest.mark.parametrize(
    ("X", "high"),
    [(BINARY, ONES), (BINARY, 2 * ONES), (2 * BINARY, 2 * ONES), (2 * BINARY, ONES), (IN_PARTS, ONES)],
    ids=["0/1", "another range", "0/2 in its range", "0/2", "an entry in parts"],
)
def test_a_sparse_table_stays_sparse_when_it_is_scaled(X, high):
    relation = m.Relation(m.Columns(("a", "b"), (), "error"), m.Scaling(ZEROS, high, "declared"), ONES, "distance")
    rows = relation.rows(ArrayTable(("a", "b"), X))
    assert rows.n_entries == 2
    assert_array_equal(rows.at(slice(None)), np.clip(dense(X) / high, 0, 1))


RELATED = {"matrices": m.AskRelations, "sums": m.AskPairSums, "products": lambda r: m.AskProducts(r, ONES)}


@pytest.mark.parametrize("ask", RELATED.values(), ids=RELATED)
@pytest.mark.parametrize(("value", "what"), [(np.nan, "missing (NaN)"), (np.inf, "infinite (inf)")])
def test_rows_are_related_only_if_all_their_values_may_be_used(ask, value, what):
    """Whoever asks first for relations, without ranges or moments before."""
    table = ArrayTable(("a", "b"), np.array([[0.0, 1.0], [1.0, value], [0.5, 0.0]]))
    relation = m.Relation(m.Columns(("a", "b"), (), "error"), m.Scaling(ZEROS, ONES), ONES, "distance")
    assert Client(table).answer(ask(relation)).reason.startswith(f"1 {what} value in column 'b'.")

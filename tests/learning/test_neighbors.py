"""The neighbor search against plain loops, to the last tie, however the table is stored and the work divided."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from scipy import sparse

from fedsieve.errors import DataError, ParameterError
from fedsieve.learning import nearest, neighbors
from learning.tables import searches
from reference import mlknn_loops


@given(searches())
def test_neighbors_are_those_of_the_loops(search):
    rows, queries, k = search
    assert_array_equal(nearest(rows, k), mlknn_loops.nearest(rows, k))
    assert_array_equal(nearest(rows, k, queries), mlknn_loops.nearest(rows, k, queries))


@given(searches())
def test_sparse_tables_have_the_neighbors_of_dense_ones(search):
    rows, queries, k = search
    thin, thin_queries = sparse.csr_array(rows), sparse.csr_matrix(queries)
    assert_array_equal(nearest(thin, k), nearest(rows, k))
    expected = nearest(rows, k, queries)
    for a, b in [(thin, thin_queries), (thin, queries), (rows, thin_queries), (sparse.coo_array(rows), thin_queries)]:
        assert_array_equal(nearest(a, k, b), expected)


def test_a_duplicate_row_is_a_neighbor_and_the_row_itself_is_not():
    rows = np.array([[0.0, 1.0]] * 4 + [[9.0, 9.0]])
    assert_array_equal(nearest(rows, 3), [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]])
    assert_array_equal(nearest(rows, 5, rows[3:4]), [[0, 1, 2, 3, 4]])


def test_equal_distances_go_to_the_lowest_index_though_products_round_them_apart():
    # Around 1e8 the products alone are wrong by more than these distances: 3, 1, 1, 1 from the query.
    rows = 1e8 + np.array([[3.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    assert_array_equal(nearest(rows, 4, [[1e8, 1e8]]), [[1, 2, 3, 0]])


def test_scaled_tables_tie_only_where_the_sums_are_equal(rng):
    rows = rng.integers(0, 4, (60, 7)) / 3
    assert_array_equal(nearest(rows, 9), mlknn_loops.nearest(rows, 9))
    assert_array_equal(nearest(sparse.csr_array(rows), 9), mlknn_loops.nearest(rows, 9))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_blocks_and_threads_do_not_matter(rng, monkeypatch, store):
    rows = rng.integers(0, 3, (700, 4)).astype(float)
    expected = nearest(store(rows), 8, n_threads=1)
    assert_array_equal(nearest(store(rows), 8, n_threads=3), expected)
    monkeypatch.setattr(neighbors, "BLOCK_VALUES", 700 * 13)
    assert_array_equal(nearest(store(rows), 8, n_threads=2), expected)
    some = rng.integers(0, 700, 20)
    for i in some:
        others = [j for j in mlknn_loops.nearest(rows, 9, rows[[i]])[0] if j != i]
        assert_array_equal(expected[i], others[:8])


def test_unsorted_and_repeated_entries_of_a_sparse_table_are_read_right():
    columns, starts = np.array([2, 0, 1, 1, 0]), np.array([0, 2, 4, 5])
    messy = sparse.csr_array((np.array([1.0, 2.0, 1.0, 1.0, 3.0]), columns, starts), shape=(3, 3))
    before = messy.indices.copy()
    assert_array_equal(nearest(messy, 2), nearest(messy.toarray(), 2))
    assert_array_equal(messy.indices, before)


def test_any_layout_of_a_dense_table_will_do(rng):
    rows = rng.random((20, 6))
    expected = nearest(rows, 3)
    frozen = rows.copy()
    frozen.flags.writeable = False
    for table in (np.asfortranarray(rows), frozen, np.repeat(rows, 2, axis=1)[:, ::2], rows.tolist()):
        assert_array_equal(nearest(table, 3), expected)


def test_bad_input_is_named():
    rows = np.zeros((4, 2))
    with pytest.raises(ParameterError, match="at least 1 and at most 3, the number of other rows; got 4"):
        nearest(rows, 4)
    with pytest.raises(ParameterError, match="at most 4, the number of rows; got 5"):
        nearest(rows, 5, rows)
    with pytest.raises(ParameterError, match="got 0"):
        nearest(rows, 0)
    with pytest.raises(DataError, match="rows have 2 features and queries 3"):
        nearest(rows, 1, np.zeros((1, 3)))
    with pytest.raises(DataError, match=r"queries must have shape \(n_rows, n_features\); got \(2,\)"):
        nearest(rows, 1, [0.0, 0.0])

"""Row pairs are cut into tasks and strips; neither the cuts nor the threads change a bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve import kernels
from fedsieve.kernels import continuous
from fedsieve.kernels.degrees import ONE
from kernels.twins import exact_pair_sums, mixed_table, relations_of


def by_row_pairs(X, radius=0.3, n_left=None, n_threads=1):
    table = np.ascontiguousarray(X.T)
    n_left = len(table) if n_left is None else n_left
    return continuous.sums_from_values(table, np.full(len(table), radius), False, n_left, n_threads)


@pytest.mark.parametrize("n_threads", [2, 3, 5])
@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_pair_sums_are_the_same_on_any_number_of_threads(rng, n_threads, share_missing):
    X = mixed_table(rng, 300, 13, share_missing=share_missing)
    assert len(continuous.row_pair_tasks(300)) > n_threads  # or the threads would have nothing to share
    for kind in ("distance", "similarity"):
        alone = kernels.pair_sums(X, 0.3, kind, n_threads=1)
        assert_array_equal(kernels.pair_sums(X, 0.3, kind, n_threads=n_threads), alone)
    relations = relations_of(X, 0.3)
    alone = kernels.pair_sums_of_relations(relations, n_threads=1)
    assert_array_equal(kernels.pair_sums_of_relations(relations, n_threads=n_threads), alone)
    assert_array_equal(alone, exact_pair_sums(X, 0.3))


# 31 rows have 465 pairs, 32 have 496: around a strip of 480. 256 rows have exactly 68 strips.
# 15, 16 rows: around 120. 723 and 724 rows: where the size of a task meets its cap of 16384.
@pytest.mark.parametrize("n_rows", [2, 3, 4, 15, 16, 31, 32, 44, 45, 124, 125, 255, 256, 257, 723, 724])
def test_strips_and_tasks_meet_at_their_edges(rng, n_rows):
    n_features = 5 if n_rows < 300 else 2
    X = rng.random((n_rows, n_features))
    expected = exact_pair_sums(X, 0.3)
    assert_array_equal(np.triu(by_row_pairs(X) / ONE), np.triu(expected))
    assert_array_equal(kernels.pair_sums_of_relations(relations_of(X, 0.3)), expected)


@given(st.integers(2, 400), st.sampled_from([480, 500, 961, 16384]))
def test_tasks_cover_every_pair_of_rows_once_in_order(n_rows, cap):
    rows, columns = np.triu_indices(n_rows, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(continuous, "TASK", cap)
        tasks = continuous.row_pair_tasks(n_rows)
    starts = np.cumsum([0, *(count for _, _, count in tasks)])
    assert starts[-1] == len(rows)
    for (i, j, count), start in zip(tasks, starts, strict=False):
        assert (i, j) == (rows[start], columns[start])
        assert 1 <= count <= max(cap, continuous.CHUNK)


@pytest.mark.parametrize("task", [480, 481, 700, 1000, 4000, 10**6])
def test_the_size_of_a_task_does_not_change_a_bit(rng, monkeypatch, task):
    X = rng.random((90, 6))
    expected = exact_pair_sums(X, 0.3)
    monkeypatch.setattr(continuous, "TASK", task)
    assert_array_equal(np.triu(by_row_pairs(X, n_threads=2) / ONE), np.triu(expected))


def test_a_strip_is_a_whole_number_of_vectors_and_fits_32_bits():
    assert continuous.CHUNK % 32 == 0
    assert continuous.CHUNK * ONE < 2**32


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_any_number_of_features_fills_blocks_of_four_by_two(rng, n_features):
    X = rng.random((50, n_features))
    assert_array_equal(np.triu(by_row_pairs(X) / ONE), np.triu(exact_pair_sums(X, 0.3)))


@pytest.mark.parametrize("n_left", [1, 3, 4, 5, 8, 10])
def test_only_the_first_features_need_to_be_compared_with_all(rng, n_left):
    X = rng.random((60, 10))
    sums, full = by_row_pairs(X, n_left=n_left), by_row_pairs(X)
    for p in range(n_left):
        assert_array_equal(sums[p, p:], full[p, p:])


def test_a_table_of_copies_has_one_sum(rng):
    # Every accumulator of a block meets every place: a swapped one would show between copies and others.
    X = np.repeat(rng.random((70, 3)), 3, axis=1)
    sums = kernels.pair_sums(X, 0.3)
    assert_array_equal(sums, np.repeat(np.repeat(sums[::3, ::3], 3, axis=0), 3, axis=1))
    assert len(np.unique(sums)) == 6


def test_relations_may_be_of_any_layout(rng):
    X = rng.random((12, 3))
    relations = relations_of(X, 0.5)
    sums = kernels.pair_sums(X, 0.5)
    assert_array_equal(kernels.pair_sums_of_relations(np.asfortranarray(relations)), sums)
    assert_array_equal(kernels.pair_sums_of_relations(np.stack([relations, relations])[1]), sums)

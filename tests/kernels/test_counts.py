"""Counting levels and comparing row pairs are two ways to the same whole numbers, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.kernels import continuous, counts
from fedsieve.kernels.degrees import ONE, cuts
from kernels.twins import exact_pair_sums
from strategies import KINDS, columns, with_gaps


def both_ways(X, radius, kind, nominal=None, n_threads=1):
    """The upper triangles by counting and by row pairs, of all features that have levels, and their indices."""
    table = np.ascontiguousarray(X.T)
    cut = cuts(np.broadcast_to(radius, (len(table),)), kind, nominal)
    levels = counts.find_levels(table, cut, kind == "similarity")
    two_valued = levels.two_valued()
    chosen = np.concatenate([np.flatnonzero(two_valued), np.flatnonzero(~two_valued & (levels.n_levels > 0))])
    by_counts = counts.sums_from_levels(levels, chosen, n_threads)
    args = (table[chosen], cut[chosen], kind == "similarity", len(chosen))
    return np.triu(by_counts), np.triu(continuous.sums_from_values(*args, n_threads)), chosen


@st.composite
def few_valued_tables(draw):
    n_rows = draw(st.integers(2, 140))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    features = []
    for n_levels in draw(st.lists(st.integers(1, 16), min_size=1, max_size=6)):
        values = rng.choice(1001, n_levels, replace=False) / 1000
        features.append(rng.choice(values, n_rows))
    X = np.stack(features, axis=1)
    return with_gaps(X, draw(st.integers(0, 99)), share=draw(st.sampled_from([0.0, 0.2, 0.9])))


@given(few_valued_tables(), st.sampled_from(KINDS), st.data())
def test_counting_levels_gives_the_sums_of_row_pairs(X, kind, data):
    n_features = X.shape[1]
    radius = np.array([data.draw(st.integers(0, 20)) / 16 for _ in range(n_features)])
    nominal = np.array([data.draw(st.booleans()) for _ in range(n_features)])
    by_counts, by_rows, chosen = both_ways(X, radius, kind, nominal)
    assert_array_equal(by_counts, by_rows)
    exact = exact_pair_sums(X, radius, kind, nominal)[np.ix_(chosen, chosen)]
    assert_array_equal(by_counts / ONE, np.triu(exact))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_levels_are_counted_and_seventeen_are_not(rng, kind, missing):
    # NaN is a level of its own.
    n_present = 15 if missing else 16
    sixteen = np.concatenate([np.arange(n_present) / 16, rng.integers(0, n_present, 84) / 16])
    seventeen = np.concatenate([np.arange(n_present + 1) / 16, rng.integers(0, n_present, 83) / 16])
    X = np.stack([seventeen, sixteen, np.arange(len(sixteen)) % 2], axis=1)
    if missing:
        X[-1, :2] = np.nan
    levels = counts.find_levels(np.ascontiguousarray(X.T), np.full(3, 0.3), kind == "similarity")
    assert levels.n_levels.tolist() == [0, 16, 2]
    assert levels.has_missing[1] == missing
    by_counts, by_rows, chosen = both_ways(X, 0.3, kind)
    assert chosen.tolist() == [2, 1]
    assert_array_equal(by_counts, by_rows)


@pytest.mark.parametrize("n_rows", [2, 63, 64, 65, 127, 128, 129])
def test_rows_at_the_edge_of_a_machine_word_are_counted(rng, n_rows):
    X = np.stack([rng.integers(0, n, n_rows) / 8 for n in (1, 2, 2, 3, 5)], axis=1)
    X[-1] = np.arange(5) / 8  # the last row decides something
    by_counts, by_rows, _ = both_ways(X, 0.25, "distance")
    assert_array_equal(by_counts, by_rows)


def test_two_related_levels_are_more_than_equal_or_not(rng):
    # Levels 0 and 1/4 within the radius, and a third feature whose levels are apart.
    X = np.stack([rng.integers(0, 2, 50) / 4, rng.integers(0, 2, 50) / 8, rng.integers(0, 2, 50)], axis=1)
    by_counts, by_rows, _ = both_ways(X, 0.25, "distance")
    assert_array_equal(by_counts, by_rows)
    assert_array_equal(by_counts / ONE, np.triu(exact_pair_sums(X, 0.25)))


def test_a_two_valued_feature_with_gaps_is_not_taken_for_two_valued(rng):
    X = with_gaps(rng.integers(0, 2, (60, 3)).astype(float), seed=1, share=0.3)
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 0.5)  # one value, or missing
    levels = counts.find_levels(np.ascontiguousarray(X.T), np.full(3, 0.3), False)
    assert levels.n_levels.tolist() == [3, 3, 2]
    assert not levels.two_valued().any()
    by_counts, by_rows, chosen = both_ways(X, 0.3, "distance")
    assert_array_equal(by_counts, by_rows)
    assert_array_equal(by_counts / ONE, np.triu(exact_pair_sums(X, 0.3))[np.ix_(chosen, chosen)])


def test_counted_features_are_those_with_few_levels_for_their_rows_two_valued_first():
    n_rows = 7 * 9
    rows = np.arange(n_rows)
    X = np.stack([rows % 3 / 2, rows / n_rows, rows % 2, rows % 4 / 3, np.zeros(n_rows)], axis=1)
    levels = counts.find_levels(np.ascontiguousarray(X.T), np.ones(5) * 0.9, False)
    # At radius 0.9 three levels have 7 related pairs of levels (not 0 with 1), four have 14: 14 * 7 is above 63.
    assert levels.n_related[[0, 3]].tolist() == [7, 14]
    assert levels.counted().tolist() == [2, 4, 0]


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_blocks_of_features_meet_at_their_edges(n_threads):
    rng = np.random.default_rng(3)
    for n_features in (63, 64, 65, 129):
        X = np.stack([rng.integers(0, 2 + p % 2, 30) / 2 for p in range(n_features)], axis=1)
        by_counts, by_rows, _ = both_ways(X, 0.5, "distance", n_threads=n_threads)
        assert_array_equal(by_counts, by_rows)


@given(st.integers(2, 60).flatmap(columns))
def test_levels_are_the_distinct_values(x):
    levels = counts.find_levels(x[None, :].copy(), np.array([0.3]), False)
    distinct, sizes = np.unique(x, return_counts=True)
    if len(distinct) > 16:
        assert levels.n_levels[0] == 0
    else:
        assert levels.n_levels[0] == len(distinct)
        assert sorted(levels.sizes[0, : len(distinct)]) == sorted(sizes)
        for level in range(len(distinct)):
            assert len(np.unique(x[levels.codes[0] == level])) == 1

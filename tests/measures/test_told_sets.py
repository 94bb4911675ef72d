"""No two sets of rows that are told differ in a few rows, whatever the bins are; and nothing else is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.measures.told_sets import ToldSets, told_counts

N, BINS, LEAST = 40, 6, 5


@st.composite
def several_scales(draw):
    """Scores of some labels of N rows in bins, and which rows have each label (-1: unknown)."""
    n_labels = draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, BINS - 1), min_size=N, max_size=N)
    labels = st.lists(st.sampled_from([-1, 0, 1]), min_size=N, max_size=N)
    return [(np.array(draw(cells)), np.array(draw(labels))) for _ in range(n_labels)]


def told_unions(counts, exact):
    """By subtraction of told counts, the sizes of all sets of neighboring cells of one group."""
    return [counts[a:b].sum() for a in range(len(counts)) for b in range(a + 1, len(counts) + 1)] + [exact.sum()]


@settings(max_examples=60, deadline=None)
@given(several_scales())
def test_told_cells_are_of_many_rows_or_none_and_add_up_to_their_group(scales):
    told = ToldSets(N, LEAST)
    for bins, labels in scales:
        groups = [labels == 0, labels == 1]
        counts = told_counts(bins, groups, BINS, told)
        assert counts.shape == (2, BINS)
        for group, found in zip(groups, counts, strict=True):
            assert found.sum() in (0, group.sum())
            assert all(size == 0 or size >= LEAST for size in told_unions(found, found))


@settings(max_examples=60, deadline=None)
@given(several_scales())
def test_all_sets_that_were_told_differ_in_many_rows_from_each_other_and_from_the_rest(scales):
    told = ToldSets(N, LEAST)
    for bins, labels in scales:
        told_counts(bins, [labels == 0, labels == 1], BINS, told)
    sets = told._sets.astype(int)
    for place, one in enumerate(sets):
        for other in sets[:place]:
            apart = int((one != other).sum())
            assert apart in (0, N) or LEAST <= apart <= N - LEAST


@settings(max_examples=30, deadline=None)
@given(several_scales())
def test_without_a_rule_counts_are_those_of_the_bins(scales):
    for bins, labels in scales:
        counts = told_counts(bins, [labels == 0, labels == 1], BINS, ToldSets(N, 0))
        expected = [[int(((labels == y) & (bins == cell)).sum()) for cell in range(BINS)] for y in (0, 1)]
        assert counts.tolist() == expected


def test_a_threshold_moved_by_one_row_is_told_once_only():
    """Scores of two labels, of which one cut differs in one row: by subtraction, that row."""
    all_rows, bins = np.ones(N, dtype=bool), np.arange(N) * BINS // N
    moved = bins.copy()
    moved[np.flatnonzero(bins == 1)[0]] = 0
    for least, apart in ((0, 1), (LEAST, 0)):
        told = ToldSets(N, least)
        first, second = (told_counts(some, [all_rows], BINS, told)[0] for some in (bins, moved))
        edges = set(np.cumsum(first)) | set(np.cumsum(second))
        assert any(0 < abs(a - b) < LEAST for a in edges for b in edges) == bool(apart)


def test_the_rows_of_which_nothing_is_known_are_many_or_none():
    """With and without a label together are all rows but a few: the number of rows would tell of these."""
    having, unknown = np.arange(N) < N // 2, np.arange(N) >= N - 2
    bins = np.zeros(N, dtype=int)
    assert not told_counts(bins, [~having & ~unknown, having], BINS, ToldSets(N, LEAST)).any()
    assert told_counts(bins, [~having, having], BINS, ToldSets(N, LEAST)).sum() == N


@pytest.mark.parametrize("n_having", [1, 4, N - 4])
def test_a_rare_label_is_not_counted_at_all(n_having):
    having = np.arange(N) < n_having
    counts = told_counts(np.zeros(N, dtype=int), [~having, having], BINS, ToldSets(N, LEAST))
    assert not counts.any()

"""Bins and robust ranges against slow twins, and what no site can do to a range."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.measures import binning
from fedsieve.measures.binning import (
    MAX_EDGES,
    N_BINS,
    are_too_fine,
    bin_counts,
    bin_counts_of,
    edges_between,
    edges_of_codes,
    edges_of_points,
    edges_of_values,
    n_beyond,
    robust_range,
    too_fine,
)
from reference import binning_loops as loops

numbers = st.one_of(
    st.integers(-20, 20).map(float), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, 1e-300, -1e300, 1e300])
)
few = st.sampled_from([-1.0, 0.0, 0.5, 3.0])
columns = st.one_of(
    st.lists(numbers, max_size=60),
    st.lists(few, max_size=60),
    st.tuples(st.lists(few, max_size=5), few, st.integers(0, 2000)).map(lambda drawn: drawn[0] + [drawn[1]] * drawn[2]),
).map(lambda values: np.array(values, dtype=float))


@st.composite
def crowded(draw):
    """Values that lie near to each other beside some that do not: quantiles an ulp apart."""
    center = draw(st.sampled_from([0.0, 1.0, -3.7, 1e6]))
    steps = np.array(draw(st.lists(st.integers(0, 400), min_size=1, max_size=40)), dtype=float)
    scale = draw(st.sampled_from([np.spacing(center), 1e-9, 1e-3]))
    return np.concatenate([center + scale * steps, draw(st.lists(few, max_size=4))])


@st.composite
def some_edges(draw):
    """Edges as methods make them, or any that rise."""
    values = draw(columns)
    kind = draw(st.sampled_from(["values", "bounds", "codes", "points", "any"]))
    if kind == "values" and len(values):
        return edges_of_values(values)
    if kind == "bounds":
        return edges_between(-3.0, 20.0)
    if kind == "codes":
        return edges_of_codes(-2.0, 5.0)
    if kind == "points" and len(values):
        return edges_of_points(values)
    return np.array(sorted(draw(st.sets(numbers, min_size=2, max_size=9))))


@given(columns, some_edges(), st.integers(0, 5))
def test_counts_are_those_of_the_slow_twin_and_miss_no_present_value(values, edges, n_missing):
    column = np.append(values, np.full(n_missing, np.nan))
    counts = bin_counts(column, edges)
    assert counts.tolist() == loops.bin_counts(column.tolist(), edges.tolist())
    assert (len(counts), counts.sum()) == (len(edges) + 1, len(values))


@given(some_edges(), st.data())
def test_ranges_are_those_of_the_slow_twin(edges, data):
    count = st.sampled_from([0, 0, 0, 1, 2, 7, 199, 200, 2000])
    counts = np.array(data.draw(st.lists(count, min_size=len(edges) + 1, max_size=len(edges) + 1)))
    assert robust_range(edges, counts) == loops.robust_range(edges.tolist(), counts.tolist())


@given(columns, columns)
def test_ranges_of_a_tables_own_values_are_those_of_the_slow_twin(labeled, values):
    assume(len(labeled))
    edges = edges_of_values(labeled)
    counts = bin_counts(values, edges)
    assert robust_range(edges, counts) == loops.robust_range(edges.tolist(), counts.tolist())


@given(columns, columns)
def test_how_many_values_lie_beyond_a_range_follows_from_the_counts(labeled, values):
    """But for values that are its upper end, which count where the bin above holds others too."""
    assume(len(labeled) and len(values))
    edges = edges_of_values(labeled)
    counts = bin_counts(values, edges)
    low, high = robust_range(edges, counts)
    clipped = int(((values < low) | (values > high)).sum())
    assert clipped <= n_beyond(edges, counts, low, high) <= clipped + int((values == high).sum())


@given(columns, columns, columns)
def test_counts_of_parts_add_up_to_the_counts_of_all(labeled, first, second):
    assume(len(labeled))
    edges = edges_of_values(labeled)
    together = bin_counts(np.concatenate([first, second]), edges)
    assert_array_equal(bin_counts(first, edges) + bin_counts(second, edges), together)


@given(columns)
def test_edges_rise_are_finite_and_few(labeled):
    assume(len(labeled))
    assume(np.abs(labeled).max() < 1e300)
    edges = edges_of_values(labeled)
    assert np.isfinite(edges).all()
    assert np.all(np.diff(edges) > 0)
    assert 2 <= len(edges) <= binning.MOST_EDGES


@given(st.one_of(columns, st.lists(st.floats(-1e299, 1e299), max_size=40).map(np.array), crowded()))
def test_what_is_made_here_is_never_too_fine(labeled):
    """So that no site refuses an honest server."""
    labeled = labeled[np.abs(labeled) < 1e300]
    assert too_fine(edges_of_values(labeled)) == ""


rising = st.lists(st.sampled_from([1.0, 2.0, 300.0, 0.001]), min_size=1, max_size=36).map(
    lambda steps: np.cumsum([-5.0, *steps])
)
bins_of_any_kind = st.one_of(
    rising, st.lists(few, min_size=1, max_size=4).map(edges_of_points), columns.map(edges_of_values)
)


@given(st.lists(bins_of_any_kind, min_size=1, max_size=5))
def test_which_columns_have_bins_that_are_too_fine_is_told_of_all_at_once(edges):
    found = are_too_fine(np.concatenate(edges), np.array([len(one) for one in edges]))
    assert found.tolist() == [loops.is_too_fine(one.tolist()) for one in edges]
    assert found.tolist() == [too_fine(one) != "" for one in edges]


@given(st.integers(0, 20), st.integers(1, 4), st.lists(few, min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_columns_of_the_same_bins_are_counted_at_once(n_rows, n_columns, ends, seed):
    edges = np.unique(ends)
    rng = np.random.default_rng(seed)
    table = rng.choice([-2.0, -1.0, 0.0, 0.25, 0.5, 3.0, 4.0, np.nan], (n_rows, n_columns))
    expected = [loops.bin_counts(column.tolist(), edges.tolist()) for column in table.T]
    assert bin_counts_of(table, edges).tolist() == expected


@given(st.floats(-1e6, 1e6), st.one_of(st.floats(0, 1e6), st.integers(1, 300)))
def test_nor_is_what_lies_between_declared_bounds(low, width):
    high = low
    if isinstance(width, int):
        for _ in range(width):
            high = np.nextafter(high, np.inf)
    else:
        high = low + width
    assume(low < high)
    assert too_fine(edges_between(low, high)) == ""


@given(st.one_of(columns, crowded()), st.integers(0, 2000))
def test_leaving_out_near_edges_moves_a_range_to_the_next_edge_that_is_left_at_most(labeled, n_usual):
    labeled = labeled[np.abs(labeled) < 1e290]
    assume(len(np.unique(labeled)) > 2)
    made = edges_of_values(labeled)
    with pytest.MonkeyPatch.context() as all_edges:
        all_edges.setattr(binning, "LEAST_WIDTH", 0.0)
        before = edges_of_values(labeled)
    column = np.append(labeled, np.full(n_usual, labeled[0]))
    assume(bin_counts(column, made).max() < (1 - 2 * binning.TAIL) * len(column))  # else nothing in use is cut off
    found, expected = (robust_range(edges, bin_counts(column, edges)) for edges in (made, before))
    near = 1.001 * binning.LEAST_WIDTH * (made[-1] - made[0])
    for end, was in zip(found, expected, strict=True):
        low, high = min(end, was) + near, max(end, was) - near
        assert not np.any((made > low) & (made < high))


def test_edges_of_declared_bounds_are_of_one_width():
    edges = edges_between(-1.0, 3.0)
    assert len(edges) == N_BINS + 1
    assert (edges[0], edges[-1]) == (-1.0, 3.0)
    np.testing.assert_allclose(np.diff(edges), 4 / N_BINS)


def test_bounds_of_two_neighboring_numbers_have_two_edges():
    assert edges_between(1.0, np.nextafter(1.0, 2)).tolist() == [1.0, np.nextafter(1.0, 2)]


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from([(0.0, 1.0), (-7.5, 0.0), (1e-300, 1e300), (3, 4)]))
def test_a_column_of_two_values_is_never_clipped(n_low, n_high, values):
    low, high = map(float, values)
    edges = edges_of_values(np.array([low, high]))
    column = np.repeat([low, high], [n_low, n_high])
    assert robust_range(edges, bin_counts(column, edges)) == (low, high)


@pytest.mark.parametrize("only", [0.0, 1.0])
def test_a_0_1_column_is_known_by_one_of_its_values(only):
    """The labeled rows may all have the same one."""
    edges = edges_of_values(np.full(9, only))
    column = np.repeat([0.0, 1.0], [4999, 1] if only else [1, 4999])
    assert robust_range(edges, bin_counts(column, edges)) == (0.0, 1.0)


@given(st.lists(st.sampled_from([1, 4, 6, 1000, 5000]), min_size=2, max_size=8), st.integers(-3, 3))
def test_codes_are_never_clipped(counts, first):
    """A code that one of thousands has is a code."""
    codes = np.arange(first, first + len(counts), dtype=float)
    edges = edges_of_codes(codes[0], codes[-1])
    column = np.repeat(codes, counts)
    assert robust_range(edges, bin_counts(column, edges)) == (codes[0], codes[-1])


def test_as_many_edges_as_a_nominal_column_may_have_codes_are_allowed():
    assert len(edges_of_codes(0.0, 999.0)) == 2000 <= MAX_EDGES


def test_a_column_that_is_nearly_constant_keeps_what_little_it_has():
    """Its quantiles fall into one bin: a range of that bin alone would make the column a constant."""
    column = np.zeros(5000)
    column[:20] = np.arange(1, 21)
    edges = edges_of_values(column)
    low, high = robust_range(edges, bin_counts(column, edges))
    assert low == 0
    assert high >= 20


@given(columns, columns)
def test_no_value_stretches_a_range_beyond_the_outermost_edges(labeled, others):
    """Whatever one site holds, in whatever number: 1e300 counts as the last edge."""
    assume(len(labeled))
    edges = edges_of_values(labeled)
    column = np.concatenate([labeled, others, np.full(5 * len(labeled), 1e300), np.full(5 * len(labeled), -1e300)])
    low, high = robust_range(edges, bin_counts(column, edges))
    assert edges[0] <= low <= high <= edges[-1]


@pytest.mark.parametrize("outlier", [9_999.0, 1e300, -1e300])
def test_an_outlier_does_not_move_a_range_and_many_move_it_little(outlier):
    values = np.random.default_rng(0).normal(size=20_000)
    edges = edges_of_values(values[:500])

    def of(n_outliers):
        return robust_range(edges, bin_counts(np.append(values, np.full(n_outliers, outlier)), edges))

    assert of(1) == of(0)
    for n_outliers in (0, 50, 100):  # up to half a percent
        low, high = of(n_outliers)
        assert -5 < low < -2 < 2 < high < 5


def test_a_range_holds_all_but_half_a_percent_at_each_end():
    values = np.random.default_rng(1).normal(size=20_000)
    edges = edges_of_values(values[:2000])
    low, high = robust_range(edges, bin_counts(values, edges))
    for share in ((values < low).mean(), (values > high).mean()):
        assert share <= binning.TAIL


@given(some_edges())
def test_a_column_without_values_has_no_range(edges):
    counts = bin_counts(np.full(4, np.nan), edges)
    assert not counts.any()
    assert robust_range(edges, counts) == (np.inf, -np.inf)


def test_labeled_values_may_be_missing_but_not_all_of_what_is_known_is_lost():
    with_gaps = edges_of_values(np.array([np.nan, 1.0, 2.0, np.nan, 5.0]))
    assert_array_equal(with_gaps, edges_of_values(np.array([1.0, 2.0, 5.0])))
    assert_array_equal(edges_of_values(np.full(3, np.nan)), edges_of_points([0.0, 1.0]))

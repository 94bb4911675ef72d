"""Partial correlations against the residuals of least squares, their chance against scipy's, and their laws."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from fedsieve.measures.correlation import chance_of, correlations, partial_correlations


@st.composite
def tables(draw: st.DrawFn, n_columns: int = 6) -> np.ndarray:
    """Columns of normal values that are related; rows enough for no column to be determined by others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(n_columns + 3, 60))
    mixing = rng.normal(size=(n_columns, n_columns))
    return rng.normal(size=(n_rows, n_columns)) @ mixing + rng.normal(size=n_columns)


def products(table):
    centered = table - table.mean(axis=0)
    return centered.T @ centered


def partial(table, x, y, given):
    """One partial correlation by the function."""
    R = correlations(products(table))
    return partial_correlations(R, np.array([x]), np.array([y]), np.array([given], dtype=np.int64).reshape(1, -1))[0]


def by_residuals(table, x, y, given):
    design = np.column_stack([np.ones(len(table)), table[:, given]])
    left = [table[:, v] - design @ np.linalg.lstsq(design, table[:, v])[0] for v in (x, y)]
    return np.corrcoef(*left)[0, 1]


@given(tables())
def test_correlations_are_numpy_s(table):
    assert_allclose(correlations(products(table)), np.corrcoef(table, rowvar=False), atol=1e-9)


@given(tables(), st.integers(0, 4), st.randoms(use_true_random=False))
def test_a_partial_correlation_is_that_of_the_residuals_of_least_squares(table, n_given, random):
    x, y, *others = random.sample(range(6), 6)
    given = others[:n_given]
    assert partial(table, x, y, given) == pytest.approx(by_residuals(table, x, y, given), abs=1e-6)


@given(tables())
def test_it_matters_neither_who_comes_first_nor_in_which_order_others_are_given(table):
    expected = partial(table, 0, 1, [2, 3, 4])
    for known in permutations([2, 3, 4]):
        assert partial(table, 1, 0, known) == pytest.approx(expected, abs=1e-6)


@given(tables(), st.sampled_from([-3.0, 0.01, 1e6]), st.integers(-100, 100))
def test_unit_and_zero_of_a_column_do_not_matter_but_for_the_sign(table, unit, zero):
    expected = partial(table, 0, 1, [2, 3])
    moved = table.copy()
    moved[:, 0] = moved[:, 0] * unit + zero
    moved[:, 2] = moved[:, 2] * unit + zero
    assert partial(moved, 0, 1, [2, 3]) == pytest.approx(np.sign(unit) * expected, abs=1e-6)


@given(tables())
def test_many_pairs_at_once_are_as_one_by_one(table):
    rng = np.random.default_rng(len(table))
    asked = np.array([rng.permutation(6)[:4] for _ in range(9)])
    together = partial_correlations(correlations(products(table)), asked[:, 0], asked[:, 1], asked[:, 2:])
    assert_array_equal(together, [partial(table, x, y, given) for x, y, *given in asked])


def test_of_a_chain_the_middle_parts_the_ends():
    """Correlations 0.8 and 0.5 along the way, so 0.4 from end to end."""
    R = np.array([[1.0, 0.8, 0.4], [0.8, 1.0, 0.5], [0.4, 0.5, 1.0]])
    assert partial_correlations(R, np.array([0]), np.array([2]), np.array([[1]])) == pytest.approx(0)


@given(tables())
def test_what_is_determined_by_the_given_ones_is_correlated_with_nothing(table):
    table[:, 5] = 2 * table[:, 0] - table[:, 1]
    for x, y, known in ((5, 2, [0, 1]), (2, 5, [1, 0]), (0, 2, [5, 1]), (5, 2, [3, 0, 1])):
        assert partial(table, x, y, known) == 0


@given(tables())
def test_a_copy_among_the_given_ones_adds_nothing(table):
    table[:, 4] = -2 * table[:, 3]
    for known in ([3, 4], [4, 3], [3, 4, 2], [3, 2, 4]):
        once = [v for v in known if v != 4]
        assert partial(table, 0, 1, known) == pytest.approx(partial(table, 0, 1, once), abs=1e-6)


@given(tables())
def test_a_constant_column_is_correlated_with_nothing_and_adds_nothing_where_it_is_given(table):
    table[:, 3] = 7.0
    table[:, 4] = table[:, 0]
    R = correlations(products(table))
    assert_array_equal(R[3], 0)
    assert R[0, 4] == pytest.approx(1)
    assert partial(table, 0, 1, [3, 2]) == pytest.approx(partial(table, 0, 1, [2]), abs=1e-12)


@given(tables())
def test_correlations_never_leave_their_bounds(table):
    table[:, 1] = table[:, 0] * 3
    table[:, 2] = -table[:, 0]
    R = correlations(products(table))
    assert np.all(np.abs(R) <= 1)
    for known in ([], [3], [3, 4]):
        assert abs(partial(table, 1, 2, known)) <= 1


@given(st.floats(-0.999999, 0.999999), st.integers(5, 10**6), st.integers(0, 1))
def test_the_chance_is_that_of_fisher_s_z(r, n_rows, n_given):
    z = np.arctanh(abs(r)) * np.sqrt(n_rows - n_given - 3)
    assert chance_of(np.array([r]), n_rows, n_given)[0] == pytest.approx(2 * stats.norm.sf(z), rel=1e-9, abs=1e-300)


def test_the_chance_is_nearly_that_of_scipy_s_exact_test(rng):
    for n_rows in (50, 500):
        x, y = rng.normal(size=(2, n_rows))
        r, p = stats.pearsonr(x, y)
        assert chance_of(np.array([r]), n_rows, 0)[0] == pytest.approx(p, abs=0.01)


def test_under_independence_one_test_in_twenty_is_below_five_percent(rng):
    table = rng.normal(size=(400, 40, 4))
    p = [chance_of(np.array([partial(part, 0, 1, [2, 3])]), 40, 2)[0] for part in table]
    assert stats.kstest(p, "uniform").pvalue > 1e-4


@given(st.integers(6, 500), st.integers(0, 2))
def test_chance_falls_with_correlation_with_rows_and_rises_with_the_number_given(n_rows, n_given):
    r = np.linspace(0, 0.9, 10)
    p = chance_of(r, n_rows, n_given)
    assert p[0] == 1
    assert np.all(np.diff(p) < 0) or p[-1] < 1e-300
    assert np.all(chance_of(r, n_rows + 1, n_given) <= p)
    assert np.all(chance_of(r, n_rows + 1, n_given + 1) == p)
    assert_array_equal(chance_of(-r, n_rows, n_given), p)


def test_a_perfect_correlation_has_no_chance():
    assert_array_equal(chance_of(np.array([1.0, -1.0]), 4, 0), 0)

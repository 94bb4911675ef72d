"""Near copies against every line through two rows, for columns that vary in more than a few rows."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import kernels
from fedsieve.kernels import copies
from fedsieve.kernels.copy_sketches import SPARE, sketches
from fedsieve.sparse_rows import SparseRows
from reference.copies_loops import near_copies

MOST = 4


def found(*columns):
    return [tuple(pair) for pair in kernels.near_copies(np.column_stack(columns), MOST).tolist()]


def n_others(column):
    """Rows that differ from the most frequent value; a site holds a column back where these are few."""
    return len(column) - max(Counter(column).values())


@st.composite
def tables(draw):
    """Whole numbers; each column is new, or a line of an earlier one that some rows do not keep to."""
    n_rows = draw(st.integers(12, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for _ in range(draw(st.integers(2, 5))):
        kind = draw(st.sampled_from(["0/1", "few", "many", "mostly 0", "copy", "copy", "copy"]))
        if kind == "copy" and columns:
            before = columns[rng.integers(len(columns))]
            column = draw(st.sampled_from([-3, -1, 1, 2])) * before + draw(st.integers(-5, 5))
            off = rng.choice(n_rows, draw(st.integers(0, MOST + 2)), replace=False)
            column[off] += rng.integers(1, 50, len(off))
        elif kind == "mostly 0":
            column = np.zeros(n_rows)
            column[:8] = rng.integers(-9, 9, 8)
        else:
            column = rng.integers(0, {"0/1": 2, "few": 4}.get(kind, 1000), n_rows).astype(float)
        columns.append(column)
    return [column for column in columns if n_others(column.tolist()) > MOST]


@given(tables())
def test_they_are_those_of_the_slow_twin(columns):
    if len(columns) >= 2:
        assert sorted(found(*columns)) == sorted(near_copies([column.tolist() for column in columns], MOST))


@given(tables(), st.sampled_from([0.0, 0.1, 0.5]), st.booleans())
def test_of_sparse_rows_they_are_the_same_in_the_same_order(columns, share, exact):
    """Whatever value counts as the usual one; also where columns are nearly constant."""
    every = np.arange(len(columns[0]) if columns else 12)
    X = np.column_stack([*columns, every % 7 == 3, np.zeros(len(every))])
    X = np.where(np.random.default_rng(len(X)).random(X.shape) < share, np.nan, X)
    rows = SparseRows.of_columns(len(X), [(every, np.append(column, np.nan_to_num(column[0]))) for column in X.T])
    expected = kernels.near_copies(X, MOST, exact=exact)
    assert kernels.near_copies(rows, MOST, exact=exact).tolist() == expected.tolist()


@pytest.mark.parametrize("n_off", range(7))
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_rows_in_which_one_of_the_two_is_missing_do_not_count(n_off, share):
    rng = np.random.default_rng(n_off)
    x = rng.normal(size=200)
    copy = 3 - 2 * x
    copy[10 : 10 + n_off] += 1
    gaps = rng.random((2, 200)) < share
    gaps[:, 10:20] = False
    columns = np.where(gaps[0], np.nan, x), np.where(gaps[1], np.nan, copy)
    expected = near_copies([column.tolist() for column in columns], MOST) if n_off < 3 else None
    assert found(*columns) == ([(0, 1)] if 1 <= n_off <= MOST else [])
    assert expected in (None, found(*columns))
    assert found(np.full(200, np.nan), *columns) == [(p + 1, q + 1) for p, q in found(*columns)]


@pytest.mark.parametrize("n_off", range(7))
@pytest.mark.parametrize(("start", "slope"), [(0, 1), (5, -2), (1e3, 0.1)])
def test_one_to_four_rows_off_make_a_near_copy_and_none_or_more_do_not(n_off, start, slope):
    x = np.random.default_rng(0).normal(size=60)
    copy = start + slope * x
    copy[10 : 10 + n_off] += slope * np.arange(1, n_off + 1)
    assert found(x, copy) == ([(0, 1)] if 1 <= n_off <= MOST else [])
    assert found(copy, x) == ([(0, 1)] if 1 <= n_off <= MOST else [])


def test_rounding_makes_no_copy_a_near_one():
    x = np.random.default_rng(0).normal(size=60)
    assert found(x, x / 3 * 0.7 + 0.1, -x * 1e-8) == []


def test_which_rows_are_off_does_not_matter():
    """The extreme ones, of which lines would be drawn first, neither."""
    x = np.arange(40.0)
    for rows in ([0], [39], [0, 39], [0, 1, 2, 3], [36, 37, 38, 39], [0, 1, 38, 39], [0, 13, 26, 39]):
        copy = x.copy()
        copy[rows] = -100.0 - np.arange(len(rows)) ** 2
        assert found(x, copy) == [(0, 1)], rows
        assert found(copy, x) == [(0, 1)], rows


@pytest.mark.parametrize("off", [[0, 1, 2], [3, 4, 5], [0, 1, 2, 3], [0, 4], [5]])
def test_a_copy_of_a_column_whose_usual_value_lies_in_the_middle(off):
    """Three rows are below it and three above: lines through two of them alone would miss all the others."""
    column = np.zeros(60)
    column[:6] = [-3, -2, -1, 1, 2, 3]
    copy = column.copy()
    copy[off] = [7, 11, 17, 23][: len(off)]
    pairs = found(copy, column), found(column, copy)
    assert pairs == ([(0, 1)], [(0, 1)])


def test_far_from_zero_a_small_difference_is_one():
    """Times in seconds that differ by one in one row: messages take means away first, and tell that row."""
    times = 1.7e9 + np.random.default_rng(0).integers(0, 10_000, 60)
    other = times.copy()
    other[7] += 1
    assert found(times, other) == [(0, 1)]


def test_columns_that_cross_once_are_no_copies():
    rng = np.random.default_rng(0)
    assert found(rng.normal(size=60), rng.normal(size=60), rng.integers(0, 2, 60)) == []


def test_a_constant_is_no_copy_and_few_rows_are_no_reason_to_fail():
    x = np.arange(9.0)
    assert found(np.ones(9), x, np.zeros(9)) == []
    assert kernels.near_copies(np.ones((1, 3)), MOST).shape == (0, 2)
    assert kernels.near_copies(np.ones((5, 0)), MOST).shape == (0, 2)
    assert kernels.near_copies(np.ones((0, 2)), MOST).shape == (0, 2)


def test_it_can_be_asked_for_twice():
    """Kernels are loaded on first use."""
    x = np.arange(30.0)
    for _ in range(2):
        assert found(x, np.where(x == 3, 0, x)) == [(0, 1)]


@st.composite
def long_tables(draw):
    """Rows enough for sketches; lines of earlier columns on any scale, with odd and missing rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, columns = draw(st.integers(27, 60)), []
    for _ in range(draw(st.integers(2, 12))):
        kind = draw(st.sampled_from(["0/1", "few", "steps", "times", "copy", "copy", "copy", "constant"]))
        if kind == "copy" and columns:
            before = columns[rng.integers(len(columns))]
            slope = draw(st.sampled_from([-1e6, -0.3, 1e-5, 0.7, 1.0, 12.0]))
            column = slope * before + draw(st.sampled_from([0.0, 3.3, -1e4]))
            off = rng.choice(n_rows, draw(st.integers(0, MOST + 2)), replace=False)
            column[off] += np.abs(slope) * rng.uniform(0.1, 2, len(off))
        else:
            column = {
                "0/1": rng.integers(0, 2, n_rows),
                "few": rng.integers(0, 5, n_rows),
                "steps": rng.integers(0, 40, n_rows) / 7,
                "constant": np.ones(n_rows),
            }.get(kind, 1.7e9 + rng.integers(0, 10**4, n_rows)) + 0.0
        columns.append(column)
    X = np.column_stack(columns)
    X[:, rng.random(X.shape[1]) < 0.2] += np.where(rng.random((n_rows, 1)) < draw(st.sampled_from([0, 0.2])), np.nan, 0)
    return X


def of_all_pairs(X, most, exact):
    """The slow twin of the sketches: every column may be a copy of every other one."""

    def none(table, room, most):
        found = sketches(table[:0], room, most)
        assert found.unlike.all()
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(copies, "sketches", none)
        return kernels.near_copies(X, most, exact=exact)


@settings(max_examples=300)
@given(long_tables(), st.integers(1, MOST), st.booleans())
def test_sketches_find_what_all_pairs_do_in_the_same_order(X, most, exact):
    assert kernels.near_copies(X, most, exact=exact).tolist() == of_all_pairs(X, most, exact).tolist()


@pytest.mark.parametrize("n_gaps", range(SPARE + 2))
@pytest.mark.parametrize("n_flat", range(SPARE + 2))
def test_odd_rows_gaps_and_equal_values_wherever_sketches_look(n_flat, n_gaps):
    """As many triples of rows as can be are spoilt, and more: the first by equal values, the next by odd rows."""
    n_rows, n_triples = 90, MOST + 1 + 2 * SPARE
    first, second, third = np.random.default_rng(0).permutation(n_rows)[: 3 * n_triples].reshape(n_triples, 3).T
    x = np.random.default_rng(1).normal(size=n_rows)
    x[second[:n_flat]] = x[first[:n_flat]]
    copy = 2 - 3 * x
    copy[third[n_flat : n_flat + MOST]] += 1
    copy[first[n_triples - n_gaps :]] = np.nan
    X = np.column_stack([x, copy, np.random.default_rng(2).normal(size=n_rows)])
    assert kernels.near_copies(X, MOST).tolist() == of_all_pairs(X, MOST, exact=False).tolist() == [[0, 1]]


@pytest.mark.parametrize("seed", range(3))
def test_of_many_columns_few_are_compared_and_all_copies_found(seed):
    rng = np.random.default_rng(seed)
    X, n_copies = rng.normal(size=(120, 600)), 100
    which, far = rng.choice(300, n_copies), rng.choice([1e-6, -2.0, 1e5], n_copies)
    X[:, 300 : 300 + n_copies] = far * X[:, which] + rng.normal(size=n_copies) * far
    for column in range(300, 300 + n_copies):
        off = rng.choice(120, rng.integers(0, MOST + 3), replace=False)
        X[off, column] += np.ptp(X[:, column])
    X = X[:, rng.permutation(600)]
    found = kernels.near_copies(X, MOST)
    assert found.tolist() == of_all_pairs(X, MOST, exact=False).tolist()
    assert len(found) >= n_copies / 3
    room = 1e-9 * np.ptp(X, axis=0)
    seen = sketches(X, room, MOST)
    with np.errstate(invalid="ignore"):  # of columns that have no angle
        near = (np.diff(seen.angles) <= copies.ALIKE).sum()
    assert seen.unlike.sum() <= 2
    assert near < 0.01 * 600**2  # pairs, where all are 180,000

"""The forward regression: against fits from scratch, and the laws it has to keep."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.sieve.forward import Matrix, OfRows, forward_path
from reference import forward_loops as loops


@dataclass(frozen=True, eq=False)
class Problem:
    """Correlations of columns, their covariances with labels, and the unit of each column."""

    R: np.ndarray
    B: np.ndarray
    unit: np.ndarray

    @property
    def units(self) -> list[list[int]]:
        return [np.flatnonzero(self.unit == u).tolist() for u in range(self.unit.max() + 1)]

    def order(self, n_taken: int) -> list[int]:
        return forward_path(Matrix(self.R), self.B, self.unit, n_taken).order.tolist()


@st.composite
def problems(draw: st.DrawFn, *, grouped: bool = True, alike: bool = True) -> Problem:
    """Some columns are mirror images or constant, or there are too few rows to tell them apart; or none of this."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_columns = draw(st.integers(2, 8))
    rows = rng.normal(size=(draw(st.integers(6 if alike else 20, 40)), n_columns))
    if alike and draw(st.booleans()):
        rows[:, 1] = -rows[:, 0]
    if alike and draw(st.booleans()):
        rows[:, -1] = 0.0
    labels = rng.normal(size=(len(rows), draw(st.integers(1, 3))))
    rows -= rows.mean(axis=0)
    deviation = rows.std(axis=0)
    Z = rows / np.where(deviation > 0, deviation, 1.0)
    drawn = rng.integers(0, draw(st.integers(1, n_columns)) if grouped else n_columns, n_columns).tolist()
    in_order = list(dict.fromkeys(drawn)) if grouped else []
    unit = [in_order.index(u) for u in drawn] if grouped else list(range(n_columns))
    return Problem(Z.T @ Z / len(Z), Z.T @ labels / len(Z), np.array(unit))


@settings(max_examples=60)
@given(problems(), st.integers(1, 8))
def test_the_order_is_that_of_fits_from_scratch(problem, n_taken):
    found = forward_path(Matrix(problem.R), problem.B, problem.unit, n_taken)
    order, gains = loops.forward_path(problem.R, problem.B, problem.units, n_taken)
    assert found.order.tolist() == order
    np.testing.assert_allclose(found.gain, gains, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.alone, loops.first_gains(problem.R, problem.B, problem.units), rtol=0, atol=1e-9)


@settings(max_examples=60)
@given(problems(grouped=False, alike=False), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_the_order_of_columns_plays_no_part(problem, n_taken, seed):
    """Where there are no ties: these go by index."""
    moved = np.random.default_rng(seed).permutation(len(problem.unit))
    other = Problem(problem.R[np.ix_(moved, moved)], problem.B[moved], problem.unit)
    assert [int(moved[u]) for u in other.order(n_taken)] == problem.order(n_taken)


@given(problems(grouped=False), st.integers(0, 2**32 - 1))
def test_directions_of_labels_play_no_part(problem, seed):
    """Labels that are turned into each other explain and are explained alike."""
    n_labels = problem.B.shape[1]
    turned = np.linalg.qr(np.random.default_rng(seed).normal(size=(n_labels, n_labels)))[0]
    before = forward_path(Matrix(problem.R), problem.B, problem.unit, 3)
    after = forward_path(Matrix(problem.R), problem.B @ turned, problem.unit, 3)
    np.testing.assert_allclose(before.alone, after.alone, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.sort(before.gain), np.sort(after.gain), rtol=0, atol=1e-9)


@given(problems(), st.integers(1, 8))
def test_correlations_of_rows_are_those_of_their_matrix(problem, n_taken):
    """Any rows of these correlations will do: the roots of the matrix are some."""
    values, directions = np.linalg.eigh(problem.R)
    rows = OfRows((directions * np.sqrt(np.maximum(values, 0))).T)
    exact = OfRows(np.where(np.diagonal(problem.R) > 0, rows.rows, 0.0))
    assert forward_path(exact, problem.B, problem.unit, n_taken).order.tolist() == problem.order(n_taken)


def test_a_copy_of_what_is_taken_comes_behind_all_that_tells_anything():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 5))
    Z[:, 1] = Z[:, 0]
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    labels = Z @ np.array([[3.0], [0.0], [0.5], [0.4], [0.3]])
    order = forward_path(Matrix(Z.T @ Z / 400), Z.T @ labels / 400, np.arange(5), 5).order
    assert order.tolist() == [0, 2, 3, 4, 1]


def test_a_unit_of_two_columns_explains_what_both_do():
    """Two halves of a signal, each weaker than a single column that is selected without them."""
    R = np.eye(3)
    B = np.array([[0.5], [0.5], [0.6]])
    assert forward_path(Matrix(R), B, np.arange(3), 3).order.tolist() == [2, 0, 1]
    assert forward_path(Matrix(R), B, np.array([0, 0, 1]), 2).order.tolist() == [0, 1]


def test_columns_without_variance_come_last():
    R = np.diag([0.0, 1.0, 0.0, 1.0])
    assert forward_path(Matrix(R), np.array([[0.0], [0.1], [0.0], [0.2]]), np.arange(4), 1).order.tolist() == [
        3,
        1,
        0,
        2,
    ]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_a_units_columns_plays_no_part_where_products_are_of_other_rows(seed):
    """Few labeled rows say that one code follows from the others; products of all rows, scaled otherwise, do not."""
    rng = np.random.default_rng(seed)
    codes = np.eye(4)[rng.permutation(np.arange(12) % 4)]
    rows = np.hstack([codes, rng.normal(size=(12, 5))])
    rows -= rows.mean(axis=0)
    rows /= np.sqrt((rows**2).sum(axis=0))
    B, unit = rng.normal(size=(9, 2)), np.array([0, 0, 0, 0, 1, 2, 3, 4, 5])
    B[:4] *= 2  # so that the codes are taken first
    moved = np.concatenate([rng.permutation(4), np.arange(4, 9)])
    one = forward_path(OfRows(rows), B, unit, 6)
    other = forward_path(OfRows(rows[:, moved]), B[moved], unit, 6)
    assert one.order[0] == 0
    np.testing.assert_array_equal(one.order, other.order)
    np.testing.assert_allclose(one.gain, other.gain, rtol=0, atol=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_where_nothing_is_left_to_explain_units_follow_by_what_they_explain_alone(seed):
    """Five rows tell four columns: all others are known from these, and were in the order of columns before."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(5, 12))
    rows -= rows.mean(axis=0)
    rows /= np.sqrt((rows**2).sum(axis=0))
    R = rows.T @ rows
    B = R @ rng.normal(size=(12, 2))  # as covariances with labels that are predicted from the columns
    path = forward_path(Matrix(R), B, np.arange(12), 9)
    assert np.all(np.diff(path.alone[path.order[4:9]]) <= 1e-9)
    assert np.all(path.gain[path.order[4:]] < 1e-9)

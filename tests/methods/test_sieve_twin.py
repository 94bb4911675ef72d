"""Sieve over messages is Sieve to the letter: a federation's selection against loops over its pooled rows."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.methods import SieveMethod
from fedsieve.transport import in_process
from protocol.federation import labeled, sites
from reference import sieve_loops as loops
from strategies import Federation, columns, with_gaps


@dataclass(frozen=True)
class Case:
    """A federation, which of its columns are codes, and which are selected together."""

    rows: Federation
    nominal: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def n_units(self) -> int:
        return len(loops.numbered_units(self.rows.X.shape[1], self.groups))


@st.composite
def cases(
    draw: st.DrawFn,
    labeled_rows: tuple[int, int] = (5, 14),
    max_numbers: int = 4,
    max_copies: int = 2,
    max_codes: int = 0,
    n_groups: int = 0,
) -> Case:
    """Numbers, 0/1 and constant columns, copies, mirror images and shifts of them, codes; labels that may follow one.

    One column is continuous, so that labels are related with something, if by chance.
    """
    sizes = draw(st.lists(st.integers(2, 10), min_size=2, max_size=3))
    n_labeled = draw(st.integers(*labeled_rows))
    n_rows = sum(sizes) + n_labeled
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = [rng.integers(0, 1001, n_rows) / 1000]
    table += [draw(columns(n_rows)) for _ in range(draw(st.integers(1, max_numbers)))]
    for _ in range(draw(st.integers(0, max_copies))):
        factor, shift = draw(st.sampled_from([(1.0, 0.0), (-1.0, 0.0), (4.0, 0.5)]))
        table.append(factor * table[rng.integers(len(table))] + shift)
    n_numbers = len(table)
    for _ in range(draw(st.integers(0, max_codes))):
        low, width = draw(st.integers(-2, 3)), draw(st.integers(1, 4))
        table.append(rng.integers(low, low + width, n_rows).astype(float))
    moved = rng.permutation(len(table))
    X = np.stack(table, axis=1)[:, moved]
    Y = rng.integers(0, 2, (n_labeled, draw(st.integers(2, 4))))
    if draw(st.booleans()):
        followed = X[-n_labeled:, rng.integers(X.shape[1])]
        Y[:, 0] = followed > np.median(followed)
    edges = np.cumsum([0, *sizes])
    clients = {f"c{i}": X[a:b] for i, (a, b) in enumerate(pairwise(edges))}
    together = rng.permutation(len(table))[: 2 * n_groups + 1].tolist()
    groups = tuple(filter(None, (tuple(together[g::n_groups]) for g in range(n_groups))))
    return Case(Federation(clients, X[edges[-1] :], Y), tuple(np.flatnonzero(moved >= n_numbers).tolist()), groups)


def selected(case: Case, **parameters):
    names = case.rows.features
    plan = SieveMethod(
        names,
        nominal=tuple(names[p] for p in case.nominal),
        groups=tuple(tuple(names[p] for p in group) for group in case.groups),
        n_bootstraps=0,
        ranges="federated",
        **parameters,
    )
    return in_process.select(plan, labeled(case.rows), sites(case.rows)).selection


def expected(case: Case, n_features_to_select=None, **parameters) -> loops.Selection:
    return loops.select(
        case.rows.clients,
        case.rows.X,
        case.rows.Y,
        n_to_select=n_features_to_select,
        nominal=case.nominal,
        groups=case.groups,
        **parameters,
    )


def assert_like_the_twin(case: Case, **parameters) -> None:
    found, twin = selected(case, **parameters), expected(case, **parameters)
    assert found.ranks.keys() == twin.ranks.keys()
    for view, ranks in twin.ranks.items():
        assert_array_equal(found.ranks[view], ranks, err_msg=view)
    assert_allclose(found.scores, twin.scores, rtol=0, atol=1e-9)
    assert_allclose(found.relevance, twin.relevance, rtol=0, atol=1e-9)
    assert found.order.tolist() == twin.order
    if twin.choice is None:
        assert found.choice is None
    else:
        assert found.choice.sizes.tolist() == twin.choice.sizes
        assert_allclose(found.choice.loss, twin.choice.loss, rtol=0, atol=1e-9)
        assert_allclose(found.choice.error, twin.choice.error, rtol=0, atol=1e-9)
        assert found.choice.k == twin.choice.k
    assert found.n_selected == twin.n_selected
    assert found.redundant_with.tolist() == twin.redundant_with
    assert_allclose(found.redundancy, twin.redundancy, rtol=0, atol=1e-9)


def assume_labels_hang_together_with_columns(case: Case) -> None:
    """Labels that do not vary are refused, and shares of nothing but rounding errors are not compared."""
    rows = case.rows.X
    X, T = loops.centered_columns(loops.filled(rows, rows)), loops.targets(case.rows.Y)
    assume(np.abs(X.T @ T).max(initial=0.0) > 1e-9)


@given(cases(), st.integers(5, 10), st.integers(0, 2**32 - 1))
def test_numbers(case, n_trees, seed):
    assume_labels_hang_together_with_columns(case)
    assert_like_the_twin(case, n_trees=n_trees, seed=seed)


@given(cases(max_numbers=2, max_codes=3), st.data())
def test_codes(case, data):
    assume_labels_hang_together_with_columns(case)
    k = data.draw(st.integers(1, case.n_units))
    assert_like_the_twin(case, n_features_to_select=k, n_trees=6)


@given(cases(max_codes=2, n_groups=2), st.data())
def test_groups(case, data):
    assume_labels_hang_together_with_columns(case)
    k = data.draw(st.integers(1, case.n_units))
    assert_like_the_twin(case, n_features_to_select=k, n_trees=6)


@st.composite
def gapped(draw: st.DrawFn) -> Case:
    """Values missing at random, in one column at a whole site, and in another everywhere, or not."""
    case, seed = draw(cases(max_codes=2, n_groups=1)), draw(st.integers(0, 2**32 - 2))
    clients = {name: with_gaps(rows, seed + i) for i, (name, rows) in enumerate(case.rows.clients.items())}
    X, rng = with_gaps(case.rows.X, seed), np.random.default_rng(seed)
    one, other = rng.permutation(X.shape[1])[:2]
    clients["c0"][:, one] = np.nan
    if draw(st.booleans()):
        for rows in (X, *clients.values()):
            rows[:, other] = np.nan
    return replace(case, rows=Federation(clients, X, case.rows.Y))


@pytest.mark.parametrize("center", ["federation", "sites"])
@pytest.mark.parametrize("missing", ["mean", "indicator"])
@settings(max_examples=10)
@given(case=gapped())
def test_missing_values_and_columns_compared_within_sites(missing, center, case):
    assume_labels_hang_together_with_columns(case)
    assert_like_the_twin(case, n_trees=5, missing=missing, center=center)


@given(cases(labeled_rows=(5, 6), max_numbers=8, max_codes=3), st.floats(0.01, 10))
def test_more_columns_than_labeled_rows_whatever_the_penalty(case, ridge):
    """The fast way solves a system of rows here, the twin one of columns."""
    assume_labels_hang_together_with_columns(case)
    assert_like_the_twin(case, ridge=ridge, n_trees=5)


@settings(max_examples=25)
@given(cases(labeled_rows=(18, 24), max_numbers=3, max_codes=1, n_groups=1), st.integers(0, 2**32 - 1))
def test_the_number_of_features_chosen(case, seed):
    y = case.rows.Y.sum(axis=1)
    assume(np.count_nonzero((y > 0) & (y < case.rows.Y.shape[1])) >= 10)
    assert_like_the_twin(case, n_features_to_select="auto", n_trees=8, seed=seed)


def two_sites(seed: int, n_labeled: int, n_values: int) -> Federation:
    """Three columns of a few different values, and three labels."""
    rng = np.random.default_rng(seed)
    clients = {name: rng.integers(0, n_values, (8, 3)).astype(float) for name in ("a", "b")}
    X = rng.integers(0, n_values, (n_labeled, 3)).astype(float)
    return Federation(clients, X, rng.integers(0, 2, (n_labeled, 3)))


@pytest.mark.parametrize("seed", [18, 30, 34, 149, 225])
def test_losses_that_are_equal_but_for_the_last_digit_are_equal(seed):
    """Two numbers of features have the same loss, or one is exactly one standard error above the lowest."""
    case = Case(two_sites(seed, n_labeled=18, n_values=2))
    assert_like_the_twin(case, n_features_to_select="auto", n_trees=8)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_equally_near_but_for_the_last_digit_are_equally_near(seed):
    """Columns are multiples of 1/6 here, and many distances equal."""
    case = Case(two_sites(seed, n_labeled=30, n_values=7))
    assert_like_the_twin(case, n_features_to_select="auto", n_trees=8)


def test_labeled_rows_that_are_all_alike_say_nothing(rng):
    """The mean of ten times 0.1 is not quite 0.1."""
    clients = {name: np.vstack([np.zeros(3), np.ones(3), rng.random((7, 3))]) for name in ("a", "b")}
    case = Case(Federation(clients, np.tile([0.3, 0.1, 0.7], (10, 1)), rng.integers(0, 2, (10, 3))))
    assert_like_the_twin(case, n_trees=5)
    assert_array_equal(selected(case, n_trees=5).relevance, 0)


def test_columns_that_are_not_correlated_are_not_redundant_by_a_rounding_error(rng):
    """Their covariance over all 14 rows is 0, but not for every order of additions."""
    X = np.column_stack([[0, 2, 2, 0, 0, 1, 2, 0, 2, 2, 2, 2, 2, 1], [0, 2, 0, 1, 1, 2, 1, 2, 2, 0, 2, 0, 1, 0]]) / 2.0
    case = Case(Federation({"a": X[8:10], "b": X[10:]}, X[:8], rng.integers(0, 2, (8, 2))))
    found = selected(case, n_features_to_select=2, n_trees=5)
    assert np.cov(X, rowvar=False)[0, 1] == pytest.approx(0, abs=1e-15)
    assert_array_equal(found.redundant_with, -1)
    assert_array_equal(found.redundancy, 0)


def test_the_selection_is_that_of_the_pooled_rows_whatever_the_partition(rng):
    X, Y = rng.normal(size=(40, 6)), rng.integers(0, 2, (12, 3))
    X[:, 4] = -2 * X[:, 1]
    for cuts in ([5, 14], [9, 11, 20], [2, 26]):
        parts = np.split(X[12:], cuts)
        assert_like_the_twin(Case(Federation({f"c{i}": part for i, part in enumerate(parts)}, X[:12], Y)), n_trees=10)

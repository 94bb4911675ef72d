"""Sieve's mathematics by itself, arrays in and arrays out, against the loops; no message and no site anywhere."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import DataError
from fedsieve.sieve import FirstViews, RegressionViews, rank_units, screen, screening_weights
from fedsieve.sieve.choice import chosen_size
from fedsieve.sieve.ranking import alikeness, bootstrap_orders, redundancy, stability
from reference import forward_loops
from reference import sieve_loops as loops
from sieve.looks import look

RIDGE, HOW = 0.3, {"n_trees": 10, "seed": 3}
LOOKS = {RegressionViews: loops.regression_look, FirstViews: loops.three_look}
both_blends = pytest.mark.parametrize("blend", LOOKS)


@dataclass(frozen=True, eq=False)
class Case:
    """Labeled rows in [0, 1], the covariance of all rows, and which columns are selected together."""

    X: np.ndarray
    Y: np.ndarray
    covariance: np.ndarray
    unit: np.ndarray

    @property
    def units(self) -> list[list[int]]:
        return [np.flatnonzero(self.unit == u).tolist() for u in range(self.unit.max() + 1)]

    @property
    def likeness(self) -> np.ndarray:
        return loops.likeness(self.covariance, self.units)

    def looks(self, blend):
        return look(blend, self.covariance, self.unit, self.X, self.Y, **HOW)

    def loops_look(self, blend):
        return LOOKS[blend](self.covariance, self.likeness, self.units, self.X, self.Y, RIDGE, 3)

    def loops_views(self, blend, rows=slice(None), n_trees=10):
        return self.loops_look(blend)(self.X[rows], self.Y[rows], n_trees)


@st.composite
def cases(draw: st.DrawFn, min_rows: int = 6, max_rows: int = 12, min_labels: int = 1) -> Case:
    """Some columns are constant in all rows, some are alike; the first label follows a column."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_labeled, n_columns = draw(st.integers(min_rows, max_rows)), draw(st.integers(3, 6))
    rows = rng.integers(0, 1001, (n_labeled + draw(st.integers(0, 20)), n_columns)) / 1000
    if draw(st.booleans()):
        rows[:, 1] = 0.1
    if draw(st.booleans()):
        rows[:, 2] = 1 - rows[:, 0]
    X = rows[:n_labeled]
    Y = rng.integers(0, 2, (n_labeled, draw(st.integers(min_labels, 3)))).astype(float)
    Y[:, 0] = X[:, 0] > np.median(X[:, 0])
    assume(np.ptp(Y[:, 0]) > 0)
    drawn = rng.integers(0, draw(st.integers(2, n_columns)), n_columns).tolist()
    in_order = list(dict.fromkeys(drawn))  # units are numbered by their first column
    return Case(X, Y, loops.covariance(rows), np.array([in_order.index(unit) for unit in drawn]))


@both_blends
@given(case=cases())
def test_views_are_those_of_the_loops(blend, case):
    looks, slow = case.looks(blend), case.loops_views(blend)
    found = looks.of(case.X, case.Y)
    assert set(found) == set(slow.ranks)
    for name in found:
        assert_array_equal(found[name].rank, slow.ranks[name], err_msg=name)
    assert_allclose(looks.fused(found), slow.scores, rtol=0, atol=1e-9)
    assert_allclose(looks.mean_relevance(found), slow.relevance, rtol=0, atol=1e-9)
    assert looks.best_first(looks.fused(found)).tolist() == slow.order
    assert_allclose(looks.likeness, case.likeness, rtol=0, atol=1e-12)


@both_blends
@given(case=cases())
def test_a_quick_order_grows_a_quarter_of_the_trees(blend, case):
    assert case.looks(blend).quick_order(case.X, case.Y).tolist() == case.loops_views(blend, n_trees=3).order


@given(cases(), st.data())
def test_redundancy_is_that_of_the_loops(case, data):
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(case.units), max_size=len(case.units))))
    like, which = redundancy(case.looks(RegressionViews).likeness, chosen)
    slow_like, slow_which = loops.redundancy(case.likeness, np.flatnonzero(chosen).tolist())
    assert which.tolist() == slow_which
    assert_allclose(like, slow_like, rtol=0, atol=1e-9)


@given(cases())
def test_how_like_two_chosen_units_are_is_their_redundancy_with_each_other_alone(case):
    likeness = case.looks(RegressionViews).likeness
    units = np.arange(len(likeness))[::-1]
    alike = alikeness(likeness, units)
    assert_allclose(alike, alike.T, atol=1e-12)
    assert_array_equal(np.diagonal(alike), 1.0)
    for i, unit in enumerate(units):
        for j, other in enumerate(units):
            if i != j:
                alone, _ = redundancy(likeness, np.arange(len(units)) == other)
                assert_allclose(alike[i, j], alone[unit], atol=1e-5)  # redundancy takes next to nothing as nothing


@both_blends
@given(case=cases(), data=st.data())
def test_stability_counts_in_how_many_bootstraps_a_unit_is_chosen(blend, case, data):
    k, n_bootstraps = data.draw(st.integers(1, len(case.units))), data.draw(st.integers(1, 4))
    times, looks = np.zeros(len(case.units)), case.looks(blend)
    for number in range(n_bootstraps):
        rows = np.random.default_rng([3, 2, number]).integers(0, len(case.X), len(case.X))
        assume(np.ptp(case.Y[rows], axis=0).any())
        times[case.loops_views(blend, rows, n_trees=3).order[:k]] += 1
    orders = bootstrap_orders(looks, case.X, case.Y, n_bootstraps, 3)
    assert_array_equal(stability(orders, k), times / n_bootstraps)
    assert np.isnan(stability(bootstrap_orders(looks, case.X, case.Y, 0, 3), k)).all()


@given(cases())
def test_how_units_go_with_labels_is_that_of_the_loops(case):
    case.Y[:, -1] = 1.0  # nothing goes with a label that all rows have
    assume(np.ptp(case.Y, axis=0).any())
    slow = loops.label_correlations(case.covariance, case.units, case.X, case.Y, 0.3)
    assert_allclose(case.looks(RegressionViews).per_label(case.X, case.Y), slow, rtol=0, atol=1e-9)


def test_a_label_goes_with_its_own_feature_and_weakly_with_others():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 5))
    covariance = np.cov(rows, rowvar=False, bias=True)
    X, Y = rows[:300], np.column_stack([rows[:300, 3] > 0, rows[:300, 1] > 0.5]).astype(float)
    found = look(RegressionViews, covariance, np.arange(5), X, Y, **HOW).per_label(X, Y)
    real = np.abs(np.corrcoef(X.T, Y.T)[5:, :5])
    assert found.argmax(axis=1).tolist() == [3, 1]
    assert_allclose(found, real, rtol=0, atol=0.2)  # the penalty makes it smaller


@both_blends
@settings(max_examples=8)
@given(case=cases(min_rows=18, max_rows=22, min_labels=3))
def test_the_number_of_units_is_that_of_the_loops(blend, case):
    y = case.Y.sum(axis=1)
    assume(np.count_nonzero((y > 0) & (y < case.Y.shape[1])) >= 10)
    found = chosen_size(case.looks(blend), case.X, case.Y, case.unit, 3)
    slow = loops.chosen_number(case.loops_look(blend), case.units, case.X, case.Y, 10, 3)
    assert (found.k, found.sizes.tolist()) == (slow.k, slow.sizes)
    assert_allclose(found.loss, slow.loss, rtol=0, atol=1e-9)
    assert_allclose(found.error, slow.error, rtol=0, atol=1e-9)


def test_the_number_of_units_needs_rows_to_judge_by():
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 3)), np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    Y[:9, 0] = 1
    with pytest.raises(DataError, match=r"needs at least 10 labeled rows .*; there are 9\. Give a number of features"):
        chosen_size(look(RegressionViews, np.cov(X.T), np.arange(3), X, Y, **HOW), X, Y, np.arange(3), 0)


@both_blends
@settings(max_examples=8)
@given(case=cases(min_rows=18, max_rows=22, min_labels=3), data=st.data())
def test_a_ranking_is_made_of_all_of_them(blend, case, data):
    y = case.Y.sum(axis=1)
    assume(np.count_nonzero((y > 0) & (y < case.Y.shape[1])) >= 10)
    k = data.draw(st.none() | st.integers(1, len(case.units)))
    found = rank_units(blend, case.covariance, case.unit, case.X, case.Y, k, ridge=RIDGE, n_bootstraps=2, **HOW)
    slow, looks = case.loops_views(blend), case.looks(blend)
    assert found.order.tolist() == slow.order
    assert_allclose(found.score, slow.scores, rtol=0, atol=1e-9)
    assert_allclose(found.relevance, slow.relevance, rtol=0, atol=1e-9)
    assert (found.choice is None) == (k is not None)
    assert found.k == (found.choice.k if k is None else k)
    chosen = np.isin(np.arange(len(case.units)), found.order[: found.k])
    like, which = redundancy(looks.likeness, chosen)
    assert_array_equal(found.redundancy, like)
    assert_array_equal(found.redundant_with, which)
    assert_array_equal(found.stability, stability(bootstrap_orders(looks, case.X, case.Y, 2, 3), found.k))


def slow_screening(blend, case):
    """The model that is sent, per view the shares of the units, and what these are worth."""
    T = loops.targets(case.Y)
    trees = loops.shares([sum(loops.tree_importances(case.X, case.Y, 10, 3)[p] for p in u) for u in case.units])
    if blend is FirstViews:
        W = loops.ridge_coefficients(loops.centered_columns(case.X), T, 0.3)
        together = loops.predicted_relevance(case.covariance, case.units, case.X, T, 0.3)
        alone = loops.irreplaceable(case.covariance, case.units, case.X, T, 0.3)
        shares = {"together": together, "alone": alone, "trees": trees}
        return W, shares, {name: by_root(share) for name, share in shares.items()}
    own, R = forward_loops.standardized(loops.covariance(case.X))
    W = own[:, None] * loops.ridge_coefficients(loops.centered_columns(case.X) * own, T, 0.3)
    scale, _ = forward_loops.standardized(case.covariance)
    B = scale[:, None] * (case.covariance @ W) * forward_loops.says(case.Y)
    alone = loops.squared_norms(B, case.units)
    m = loops.default_number(len(case.units))
    taken = forward_loops.forward_order(R, B, case.units, min(len(case.X) // 2, 2 * m))
    n_varying = sum(any(R[p, p] > 0 for p in columns) for columns in case.units)
    taken = taken[: min(len(case.X) // 2, 2 * m, n_varying)]
    rounded = loops.rounded(alone)
    rest = sorted((u for u in range(len(case.units)) if u not in taken), key=lambda u: (-rounded[u], u))
    worth = [m / (m + [*taken, *rest].index(u)) for u in range(len(case.units))]
    return W, {"linear": loops.shares(alone), "trees": trees}, {"linear": np.array(worth), "trees": by_root(trees)}


def by_root(share):
    return np.sqrt(np.array(share) / (max(share) or 1.0))


@both_blends
@given(case=cases(), data=st.data())
def test_screening_ranks_without_a_covariance_and_keeps_what_fits(blend, case, data):
    """Its product with the weights and its diagonal are enough, and which columns are alike in the labeled rows."""
    tuning, W = screening_weights(blend, case.X, case.Y, RIDGE)
    variance = np.diagonal(case.covariance)
    n_columns = data.draw(st.integers(1, case.X.shape[1]))
    found = screen(blend, case.X, case.Y, case.unit, variance, case.covariance @ W, n_columns, tuning=tuning, **HOW)
    slow_W, shares, worth = slow_screening(blend, case)
    assert_allclose(W, slow_W, rtol=0, atol=1e-9)
    assert set(tuning.say) == set(worth)
    score = sum(weight * worth[name] for name, weight in tuning.say.items())
    relevance = sum(weight * np.array(shares[name]) for name, weight in tuning.say.items())
    assert_allclose(found.score, score, rtol=0, atol=1e-9)
    assert_allclose(found.relevance, relevance, rtol=0, atol=1e-9)
    width = np.array([len(columns) for columns in case.units])
    varies = np.array([variance[columns].sum() > 0 for columns in case.units])
    best_first = sorted(range(len(width)), key=lambda u: (not varies[u], -round(score[u], 10), u))
    kept, room = [], n_columns
    for u in best_first:
        if width[u] > room:
            break
        kept.append(u)
        room -= width[u]
    assert set(np.flatnonzero(found.kept)) == set(kept or best_first[:1])


def test_screening_does_not_keep_copies_of_one_column_alone():
    """Twenty copies of the strongest column, with noise, and one other column that tells of another label."""
    rng = np.random.default_rng(0)
    signal, other = rng.normal(size=(2, 600))
    rows = np.column_stack([signal[:, None] + 0.1 * rng.normal(size=(600, 20)), other, rng.normal(size=(600, 20))])
    X, Y = (
        rows[:80],
        np.column_stack([signal > 0, signal > 1, other[:600] + rng.normal(size=600) > 0])[:80].astype(float),
    )
    covariance, unit = np.cov(rows, rowvar=False), np.arange(41)
    tuning, W = screening_weights(RegressionViews, X, Y, None)
    found = screen(
        RegressionViews, X, Y, unit, np.diagonal(covariance), covariance @ W, 5, tuning=tuning, n_trees=10, seed=0
    )
    assert found.kept[20]
    assert found.kept[:20].any()


@given(case=cases())
def test_a_row_of_weight_two_screens_like_two_equal_rows(case):
    times = np.arange(len(case.X)) % 3 + 1
    weighted, repeated = (case.X, case.Y), (np.repeat(case.X, times, axis=0), np.repeat(case.Y, times, axis=0))
    found = []
    for (X, Y), weights in ((weighted, times.astype(float)), (repeated, None)):
        tuning, W = screening_weights(RegressionViews, X, Y, None, weights)
        products = case.covariance @ W
        how = {**HOW, "tuning": tuning, "weights": weights}
        found.append(screen(RegressionViews, X, Y, case.unit, np.diagonal(case.covariance), products, 3, **how))
    assert_allclose(found[0].score, found[1].score, rtol=0, atol=1e-9)
    assert_array_equal(found[0].kept, found[1].kept)


@pytest.mark.parametrize(("follows", "least", "most"), [(np.square, 0.1, 0.3), (np.positive, 0.7, 0.7)])
def test_labels_that_no_line_tells_are_left_to_the_trees(follows, least, most):
    """The labels follow squares of four of 30 columns, or these columns themselves."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(900, 30))
    hidden = follows(rows[:300, :4]) @ rng.uniform(0.5, 1.5, (4, 3))
    X, Y = rows[:300], (hidden > np.median(hidden, axis=0)).astype(float)
    covariance = np.cov(rows, rowvar=False)
    tuning = RegressionViews.tuning(X, Y, None, np.ones(30), None)
    assert least <= tuning.say["linear"] <= most
    assert tuning.say["linear"] + tuning.say["trees"] == 1
    found = rank_units(
        RegressionViews, covariance, np.arange(30), X, Y, 4, ridge=None, n_trees=200, n_bootstraps=0, seed=0
    )
    assert set(found.order[:4]) == {0, 1, 2, 3}


def test_nor_where_columns_were_screened_for_the_labels_sake():
    """Of columns that were kept for the labels, a line seems to tell them, in rows left out as well."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(900, 600))
    hidden = np.square(rows[:300, :4]) @ rng.uniform(0.5, 1.5, (4, 3))
    X, Y = rows[:300], (hidden > np.median(hidden, axis=0)).astype(float)
    covariance, unit = np.cov(rows, rowvar=False), np.arange(600)
    tuning, W = screening_weights(RegressionViews, X, Y, None)
    screening = screen(
        RegressionViews, X, Y, unit, np.diagonal(covariance), covariance @ W, 100, tuning=tuning, n_trees=200, seed=0
    )
    kept = np.flatnonzero(screening.kept)
    part, n_kept = covariance[np.ix_(kept, kept)], np.arange(len(kept))
    how = {"ridge": None, "n_trees": 200, "n_bootstraps": 0, "seed": 0}
    found, naive = (
        {int(kept[u]) for u in rank_units(RegressionViews, part, n_kept, X[:, kept], Y, 4, say=say, **how).order[:4]}
        for say in (screening.say, None)
    )
    assert screening.say["linear"] == 0.1
    assert found == {0, 1, 2, 3}
    assert not naive & {0, 1, 2, 3}

"""Sieve's mathematics by itself, arrays in and arrays out, against the loops; no message and no site anywhere."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import DataError
from fedsieve.sieve import rank_units, screen, screening_weights
from fedsieve.sieve.choice import chosen_size
from fedsieve.sieve.ranking import bootstrap_orders, redundancy, stability
from fedsieve.sieve.views import WEIGHTS, FeatureViews, fused, mean_relevance
from reference import sieve_loops as loops

HOW = {"ridge": 0.3, "n_trees": 10, "seed": 3}


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

    @property
    def looks(self) -> FeatureViews:
        return FeatureViews(self.covariance, self.unit, **HOW)

    def loops_views(self, rows=slice(None), n_trees=10):
        return loops.three_views(
            self.covariance, self.likeness, self.units, self.X[rows], self.Y[rows], 0.3, n_trees, 3
        )


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


@given(cases())
def test_views_are_those_of_the_loops(case):
    found, slow = case.looks.of(case.X, case.Y), case.loops_views()
    assert set(found) == set(WEIGHTS)
    assert sum(WEIGHTS.values()) == 1
    for name in WEIGHTS:
        assert_array_equal(found[name].rank, getattr(slow, name), err_msg=name)
    assert_allclose(fused(found), slow.scores, rtol=0, atol=1e-9)
    assert_allclose(mean_relevance(found), slow.relevance, rtol=0, atol=1e-9)
    assert case.looks.best_first(fused(found)).tolist() == slow.order
    assert_allclose(case.looks.likeness, case.likeness, rtol=0, atol=1e-12)


@given(cases())
def test_a_quick_order_grows_a_quarter_of_the_trees(case):
    assert case.looks.quick_order(case.X, case.Y).tolist() == case.loops_views(n_trees=3).order


@given(cases(), st.data())
def test_redundancy_is_that_of_the_loops(case, data):
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(case.units), max_size=len(case.units))))
    like, which = redundancy(case.looks.likeness, chosen)
    slow_like, slow_which = loops.redundancy(case.likeness, np.flatnonzero(chosen).tolist())
    assert which.tolist() == slow_which
    assert_allclose(like, slow_like, rtol=0, atol=1e-9)


@given(cases(), st.data())
def test_stability_counts_in_how_many_bootstraps_a_unit_is_chosen(case, data):
    k, n_bootstraps = data.draw(st.integers(1, len(case.units))), data.draw(st.integers(1, 4))
    times = np.zeros(len(case.units))
    for number in range(n_bootstraps):
        rows = np.random.default_rng([3, 2, number]).integers(0, len(case.X), len(case.X))
        assume(np.ptp(case.Y[rows], axis=0).any())
        times[case.loops_views(rows, n_trees=3).order[:k]] += 1
    orders = bootstrap_orders(case.looks, case.X, case.Y, n_bootstraps, 3)
    assert_array_equal(stability(orders, k), times / n_bootstraps)
    assert np.isnan(stability(bootstrap_orders(case.looks, case.X, case.Y, 0, 3), k)).all()


@given(cases())
def test_how_units_go_with_labels_is_that_of_the_loops(case):
    case.Y[:, -1] = 1.0  # nothing goes with a label that all rows have
    assume(np.ptp(case.Y, axis=0).any())
    slow = loops.label_correlations(case.covariance, case.units, case.X, case.Y, 0.3)
    assert_allclose(case.looks.per_label(case.X, case.Y), slow, rtol=0, atol=1e-9)


def test_a_label_goes_with_its_own_feature_and_weakly_with_others():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 5))
    covariance = np.cov(rows, rowvar=False, bias=True)
    X, Y = rows[:300], np.column_stack([rows[:300, 3] > 0, rows[:300, 1] > 0.5]).astype(float)
    found = FeatureViews(covariance, np.arange(5), **HOW).per_label(X, Y)
    real = np.abs(np.corrcoef(X.T, Y.T)[5:, :5])
    assert found.argmax(axis=1).tolist() == [3, 1]
    assert_allclose(found, real, rtol=0, atol=0.2)  # the penalty makes it smaller


@settings(max_examples=15)
@given(cases(min_rows=18, max_rows=22, min_labels=3))
def test_the_number_of_units_is_that_of_the_loops(case):
    y = case.Y.sum(axis=1)
    assume(np.count_nonzero((y > 0) & (y < case.Y.shape[1])) >= 10)
    found = chosen_size(case.looks, case.X, case.Y, case.unit, 3)
    slow = loops.chosen_number(case.covariance, case.likeness, case.units, case.X, case.Y, 0.3, 10, 3)
    assert (found.k, found.sizes.tolist()) == (slow.k, slow.sizes)
    assert_allclose(found.loss, slow.loss, rtol=0, atol=1e-9)
    assert_allclose(found.error, slow.error, rtol=0, atol=1e-9)


def test_the_number_of_units_needs_rows_to_judge_by():
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 3)), np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    Y[:9, 0] = 1
    with pytest.raises(DataError, match=r"needs at least 10 labeled rows .*; there are 9\. Give a number of features"):
        chosen_size(FeatureViews(np.cov(X.T), np.arange(3), **HOW), X, Y, np.arange(3), 0)


@settings(max_examples=15)
@given(cases(min_rows=18, max_rows=22, min_labels=3), st.data())
def test_a_ranking_is_made_of_all_of_them(case, data):
    y = case.Y.sum(axis=1)
    assume(np.count_nonzero((y > 0) & (y < case.Y.shape[1])) >= 10)
    k = data.draw(st.none() | st.integers(1, len(case.units)))
    found = rank_units(case.covariance, case.unit, case.X, case.Y, k, n_bootstraps=2, **HOW)
    slow = case.loops_views()
    assert found.order.tolist() == slow.order
    assert_allclose(found.score, slow.scores, rtol=0, atol=1e-9)
    assert_allclose(found.relevance, slow.relevance, rtol=0, atol=1e-9)
    assert (found.choice is None) == (k is not None)
    assert found.k == (found.choice.k if k is None else k)
    chosen = np.isin(np.arange(len(case.units)), found.order[: found.k])
    like, which = redundancy(case.looks.likeness, chosen)
    assert_array_equal(found.redundancy, like)
    assert_array_equal(found.redundant_with, which)
    assert_array_equal(found.stability, stability(bootstrap_orders(case.looks, case.X, case.Y, 2, 3), found.k))


@given(cases(), st.data())
def test_screening_ranks_by_relevance_alone_and_keeps_what_fits(case, data):
    """Without a covariance: its product with the weights and its diagonal are enough."""
    W = screening_weights(case.X, case.Y, 0.3)
    variance = np.diagonal(case.covariance)
    n_columns = data.draw(st.integers(1, case.X.shape[1]))
    found = screen(case.X, case.Y, case.unit, variance, case.covariance @ W, n_columns, **HOW)
    T = loops.targets(case.Y)
    assert_allclose(W, loops.ridge_coefficients(loops.centered_columns(case.X), T, 0.3), rtol=0, atol=1e-9)
    shares = {
        "together": loops.predicted_relevance(case.covariance, case.units, case.X, T, 0.3),
        "alone": loops.irreplaceable(case.covariance, case.units, case.X, T, 0.3),
        "trees": loops.shares([sum(loops.tree_importances(case.X, case.Y, 10, 3)[p] for p in u) for u in case.units]),
    }
    score = sum(WEIGHTS[name] * np.sqrt(np.array(share) / max(share)) for name, share in shares.items() if max(share))
    relevance = sum(WEIGHTS[name] * np.array(share) for name, share in shares.items())
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

"""What chance gives: against the loops, on labels that mean nothing, and on labels that mean something."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.sieve import FirstViews, RegressionViews
from fedsieve.sieve.chance import chance_band
from fedsieve.sieve.first_views import places_by_chance
from fedsieve.sieve.forward import Matrix, forward_path
from fedsieve.sieve.regression_views import places_by_gain
from reference import forward_loops
from reference import sieve_loops as loops
from sieve.looks import look

HOW = {"n_trees": 40, "seed": 0}
both_blends = pytest.mark.parametrize("blend", [RegressionViews, FirstViews])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.booleans())
def test_places_by_chance_are_those_of_the_loops(seed, n_units, constant):
    rng = np.random.default_rng(seed)
    covariance = np.cov(rng.normal(size=(n_units, 4)) @ rng.normal(size=(4, 30)))
    if constant:
        covariance[0] = covariance[:, 0] = 0.0
    G, real, chance = covariance**2, rng.random(n_units), rng.random((3, n_units))
    slow = [[loops.place_by_chance(u, draw[u], real.tolist(), G) for u in range(n_units)] for draw in chance]
    assert places_by_chance(real, chance, G).tolist() == slow


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.booleans(), st.integers(1, 7))
def test_places_in_the_regression_are_those_of_the_loops(seed, n_units, constant, n_taken):
    rng = np.random.default_rng(seed)
    correlations = np.corrcoef(rng.normal(size=(n_units, 30)))
    B, gain = rng.normal(size=(n_units, 2)), rng.random(n_units)
    if constant:
        correlations[0] = correlations[:, 0] = B[0] = gain[0] = 0.0
    units = [[u] for u in range(n_units)]
    _, gains = forward_loops.forward_path(correlations, B, units, n_taken)
    varies = np.diagonal(correlations) > 0
    slow = [forward_loops.place_by_gain(u, gain[u], gains, varies) for u in range(n_units)]
    assert places_by_gain(forward_path(Matrix(correlations), B, np.arange(n_units), n_taken), gain).tolist() == slow


@both_blends
def test_a_unit_by_chance_as_relevant_as_it_is_has_its_own_score(rng, blend):
    rows = rng.normal(size=(200, 6))
    Y = np.column_stack([rows[:60, 0] > 0, rows[:60, 4] > 0]).astype(float)
    looks = look(blend, np.cov(rows, rowvar=False), np.arange(6), rows[:60], Y, **HOW)
    real = looks.evidence(rows[:60], Y)
    again = looks.by_chance(real, [real])[0]
    np.testing.assert_allclose(again, looks.fused(looks.of(rows[:60], Y)), rtol=0, atol=1e-12)


def passing(blend, labels, seed):
    """The share of features above the band: `labels` makes labels of rows of which the last half are alike."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(600, 30))
    rows[:, 15:] += 2 * rng.normal(size=(600, 1))
    X = rows[:100]
    Y = labels(X, rng).astype(float)
    looks = look(blend, np.cov(rows, rowvar=False), np.arange(30), X, Y, **HOW)
    return looks.fused(looks.of(X, Y)) > chance_band(looks, X, Y, seed)


one_blend_is_quick = pytest.mark.parametrize(
    "blend", [RegressionViews, pytest.param(FirstViews, marks=pytest.mark.full)]
)


@one_blend_is_quick
def test_of_labels_that_mean_nothing_few_features_pass(blend):
    share = np.mean([passing(blend, lambda X, rng: rng.random((len(X), 3)) < 0.4, seed) for seed in range(8)])
    assert share < 0.1  # one in twenty, give or take


@both_blends
def test_no_band_is_above_the_largest_score(blend):
    """1.06 was seen of scores up to 1."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, Y = rng.normal(size=(200, 5)), (rng.random((40, 2)) < 0.4).astype(float)
        looks = look(blend, np.cov(rows, rowvar=False), np.arange(5), rows[:40], Y, **HOW)
        assert chance_band(looks, rows[:40], Y, seed).max() <= 1


@one_blend_is_quick
def test_features_that_make_the_labels_pass_also_weak_ones_beside_a_strong_one(blend):
    def labels(X, rng):
        noise = rng.normal(size=(3, len(X)))
        return np.column_stack([X[:, 0] + 0.2 * noise[0], X[:, 0] + 0.2 * noise[1], X[:, 3] + noise[2]]) > 0

    passed = np.array([passing(blend, labels, seed) for seed in range(4)])
    assert passed[:, [0, 3]].all()
    assert np.delete(passed, [0, 3], axis=1).mean() < 0.1


def weighted_case(rng):
    rows = rng.normal(size=(200, 6))
    Y = np.column_stack([rows[:60, 0] > 1, rows[:60, 4] > 0]).astype(float)
    looks = look(RegressionViews, np.cov(rows, rowvar=False), np.arange(6), rows[:60], Y, **HOW)
    return looks, rows[:60], Y, np.where(Y[:, 0] == 1, 5.0, 1.0)


def test_weights_that_say_nothing_change_no_band_and_others_do(rng):
    looks, X, Y, weights = weighted_case(rng)
    plain = chance_band(looks, X, Y, 3)
    np.testing.assert_allclose(chance_band(looks, X, Y, 3, np.ones(len(X))), plain, rtol=0, atol=1e-9)
    assert np.abs(chance_band(looks, X, Y, 3, weights) - plain).max() > 1e-3


def test_a_weight_goes_with_its_labels_and_with_what_is_unknown_there(rng, monkeypatch):
    looks, X, Y, weights = weighted_case(rng)
    Y[:9, 1] = np.nan
    seen, real = [], looks.evidence

    def noted(X_, Y_, weights_=None, **how):
        seen.append((X_, Y_, weights_))
        return real(X_, Y_, weights_, **how)

    monkeypatch.setattr(looks, "evidence", noted)
    assert np.isfinite(chance_band(looks, X, Y, 3, weights)).all()
    rows = sorted(map(repr, np.column_stack([Y, weights]).tolist()))
    for X_, Y_, weights_ in seen:
        assert X_ is X
        assert sorted(map(repr, np.column_stack([Y_, weights_]).tolist())) == rows
    assert any(not np.array_equal(Y_, Y, equal_nan=True) for _, Y_, _ in seen)


def test_correlations_with_labels_do_not_depend_on_how_often_equal_rows_are_written_down(rng):
    """The law of weights; and a label that is unknown in some rows is told from the others."""
    looks, X, Y, _ = weighted_case(rng)
    times = rng.integers(1, 4, len(X))
    weighted = looks.per_label(X, Y, times.astype(float))
    repeated = looks.per_label(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-9)
    known = rng.random(len(Y)) < 0.7
    Y[~known, 1] = np.nan
    np.testing.assert_allclose(looks.per_label(X, Y)[0], looks.per_label(X, Y[:, :1])[0], rtol=0, atol=1e-9)
    alone = looks.per_label(X[known], Y[known][:, 1:])
    np.testing.assert_allclose(looks.per_label(X, Y)[1], alone[0], rtol=0, atol=1e-9)

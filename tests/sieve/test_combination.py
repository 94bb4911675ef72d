"""Noisy moments beside exact ones: pooled without noise, the labeled rows alone with much, and the best in between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.sieve import MomentSums, correction

D, L = 4, 2
MODEL = np.random.default_rng(3).normal(size=(D, L))


def tables(n: int, n_sites: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(D, D))
    return rng.normal(size=(n, D)) @ mix, rng.normal(size=(n_sites, D)) @ mix + 0.3


def noise(n_columns: int, variance: float, pairs: bool) -> MomentSums:
    second = np.full((n_columns, n_columns) if pairs else n_columns, variance)
    return MomentSums(0.0, np.full(n_columns, variance), second, np.full((n_columns, L), variance))


def found(own, others, variance, pairs=True):
    center = own.mean(axis=0)
    rows, elsewhere = own - center, others - center
    sites = MomentSums.of(elsewhere, elsewhere @ MODEL, pairs=pairs)
    return rows, correction(rows, rows @ MODEL, sites, noise(D, variance, pairs))


@given(st.integers(3, 60), st.integers(1, 200), st.integers(0, 99))
def test_without_noise_and_clipping_it_is_the_covariance_of_all_rows(n, n_sites, seed):
    own, others = tables(n, n_sites, seed)
    rows, answer = found(own, others, 0.0)
    pooled = np.cov(np.vstack([own, others]), rowvar=False, bias=True)
    own_covariance = rows.T @ rows / n
    near = np.abs(np.log(np.diagonal(pooled) / np.diagonal(own_covariance))) < np.log(4)
    if near.all():  # else variances are held near the labeled rows' own
        assert_allclose(answer.covariance(own_covariance), pooled, atol=1e-9 * np.abs(pooled).max())
        assert_allclose(answer.variance(np.diagonal(own_covariance)), np.diagonal(pooled))
    assert_allclose(answer.projections(own_covariance @ MODEL, MODEL), pooled @ MODEL, atol=1e-9 * np.abs(pooled).max())
    assert answer.weight == pytest.approx(n_sites / (n + n_sites))


@pytest.mark.parametrize("pairs", [True, False])
def test_with_endless_noise_it_is_the_labeled_rows_alone(pairs):
    own, others = tables(20, 500)
    rows, answer = found(own, others, 1e60, pairs)
    covariance = rows.T @ rows / len(rows)
    assert answer.weight == pytest.approx(0, abs=1e-12)
    assert_allclose(answer.covariance(covariance), covariance)
    assert_allclose(answer.projections(covariance @ MODEL, MODEL), covariance @ MODEL)


def test_without_rows_elsewhere_nothing_is_corrected():
    own, _ = tables(20, 1)
    _, answer = found(own, np.zeros((0, D)), 5.0)
    assert answer.weight == 0
    assert_array_equal(answer.products, 0)
    assert_array_equal(answer.second, 0)


def test_the_weight_is_the_one_that_makes_the_error_smallest():
    """Of many repetitions, no other weight has a smaller mean squared error of the products."""
    rng, n, n_sites, tau = np.random.default_rng(1), 40, 100, 60.0
    mix = rng.normal(size=(D, D))
    truth = mix.T @ mix @ MODEL
    weights = np.linspace(0, 1, 41)
    errors, chosen = np.zeros(len(weights)), []
    for _ in range(3000):
        own, others = rng.normal(size=(n, D)) @ mix, rng.normal(size=(n_sites, D)) @ mix
        here = own.T @ (own @ MODEL) / n
        noisy = (others.T @ (others @ MODEL) + rng.normal(0, tau, truth.shape)) / n_sites
        errors += [(((1 - w) * here + w * noisy - truth) ** 2).sum() for w in weights]
        sites = MomentSums.of(others, others @ MODEL, pairs=True)
        chosen.append(correction(own, own @ MODEL, sites, noise(D, tau**2, True)).weight)
    assert np.mean(chosen) == pytest.approx(weights[errors.argmin()], abs=0.06)


def test_how_many_rows_have_half_of_the_say():
    own, others = tables(50, 400)
    _, answer = found(own, others, 400.0)
    for n_sites in (400, 4000):
        _, again = found(*tables(50, n_sites), 400.0)
        assert (again.weight > 0.5) == (n_sites > again.rows_for_half)
    assert answer.rows_for_half > 50


def test_a_column_that_is_constant_here_stays_so_and_no_variance_runs_away():
    own, others = tables(30, 300)
    own[:, 1] = 0.0
    rows, answer = found(own, others, 1e5)
    covariance = rows.T @ rows / len(rows)
    corrected = answer.covariance(covariance)
    assert_array_equal(corrected[1], 0)
    ratio = np.diagonal(corrected)[[0, 2, 3]] / np.diagonal(covariance)[[0, 2, 3]]
    assert np.all((ratio >= 0.25) & (ratio <= 4))
    assert np.all(np.abs(corrected) <= np.sqrt(np.outer(np.diagonal(corrected), np.diagonal(corrected))) + 1e-12)


def test_squares_alone_correct_variances_and_nothing_else():
    own, others = tables(30, 300)
    rows, with_pairs = found(own, others, 0.0, pairs=True)
    _, squares = found(own, others, 0.0, pairs=False)
    covariance = rows.T @ rows / len(rows)
    assert_allclose(squares.variance(np.diagonal(covariance)), with_pairs.variance(np.diagonal(covariance)))
    off = ~np.eye(D, dtype=bool)
    changed = squares.covariance(covariance)[off] != covariance[off]
    most = np.sqrt(np.outer(*[np.diagonal(squares.covariance(covariance))] * 2))[off]
    assert_allclose(np.abs(squares.covariance(covariance)[off][changed]), most[changed])  # only where it had to be
    some = np.array([True, False, True, True])
    assert_allclose(
        squares.only(some).variance(np.diagonal(covariance)[some]), squares.variance(np.diagonal(covariance))[some]
    )
    assert_allclose(with_pairs.only(some).second, with_pairs.second[np.ix_(some, some)])

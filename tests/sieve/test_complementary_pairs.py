"""Halves of the labeled rows: against the loops, on labels that mean nothing, and the bounds case by case."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedsieve import Sieve
from fedsieve.errors import DataError, ParameterError
from fedsieve.sieve import PairStability, RegressionViews
from fedsieve.sieve.complementary_pairs import pair_stability
from reference.pairs_loops import one_peak, shares, worst_case
from sieve.looks import look

HOW = {"ridge": 1.0, "n_trees": 8, "seed": 5}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [16, 17])
def test_halves_are_dealt_and_counted_as_in_the_loops(rng, n_rows, weighted):
    X, Y = rng.random((n_rows, 6)), (rng.random((n_rows, 3)) < 0.5).astype(float)
    w = rng.uniform(0.5, 2, n_rows) if weighted else None
    looks = look(RegressionViews, np.cov(X.T), np.arange(6), X, Y, **HOW)
    found = pair_stability(looks, X, Y, 2, seed=5, weights=w, n_pairs=3)
    deals = [np.random.default_rng([5, 5, number]).permutation(n_rows).tolist() for number in range(3)]
    slow = shares(lambda rows: looks.quick_order(X[rows], Y[rows], None if w is None else w[rows]), n_rows, 6, 2, deals)
    assert found.share.tolist() == [float(share) for share in slow]
    assert found.share.sum() == pytest.approx(2)
    assert (found.n_chosen, found.n_compared, found.n_pairs) == (2, 6, 3)


@given(st.integers(1, 40), st.integers(1, 300), st.integers(51, 100), st.integers(1, 60))
@example(k=1, more=2, percent=75, n_pairs=1)
@example(k=1, more=99, percent=55, n_pairs=5)
@example(k=1, more=99, percent=70, n_pairs=5)
@example(k=1, more=4, percent=54, n_pairs=60)
@example(k=4, more=3, percent=76, n_pairs=4)
def test_bounds_are_those_of_the_paper(k, more, percent, n_pairs):
    """Of few pairs the theorem says nothing at low thresholds: its formula would be negative, or a division by zero."""
    p, threshold = k + more, Fraction(percent, 100)
    found = PairStability(np.zeros(1), k, p, n_pairs)
    worst, peak = worst_case(k, p, threshold), one_peak(k, p, threshold, n_pairs)
    assert found.bound(percent / 100) == pytest.approx(float(worst))
    expected = worst if peak is None else min(worst, peak)
    assert found.bound(percent / 100, unimodal=True) == pytest.approx(float(expected))


def test_on_noise_no_more_are_stable_than_the_bound_says(rng):
    """Independent columns and labels that mean nothing: every feature is one that a half chooses by chance."""
    stable, bounds = [], []
    for seed in range(6):
        X, Y = rng.random((40, 30)), (rng.random((40, 2)) < 0.5).astype(float)
        looks = look(RegressionViews, np.eye(30), np.arange(30), X, Y, ridge=1.0, n_trees=4, seed=seed)
        found = pair_stability(looks, X, Y, 3, seed, n_pairs=8)
        stable.append(len(found.stable(0.8)))
        bounds.append(found.bound(0.8))
    assert np.mean(stable) <= np.mean(bounds) == pytest.approx(0.5)


def test_a_selector_has_them_when_they_are_read(rng):
    sites, X = [rng.random((30, 6)) for _ in range(2)], rng.random((41, 6))
    Y = np.column_stack([X[:, 1] > 0.5, X[:, 4] > 0.4]).astype(int)
    selector = Sieve(n_features_to_select=2, n_trees=20, n_bootstraps=0, groups=[[2, 3]]).fit(X, Y, clients=sites)
    without = pickle.loads(pickle.dumps(selector))
    with pytest.raises(AttributeError, match="pair_stability_ was not read before the selector was pickled"):
        _ = without.pair_stability_
    assert "pair_stability" not in selector.explain()[0]
    found = selector.pair_stability_
    assert [row["pair_stability"] for row in selector.explain()] == found.share[selector.order_].tolist()
    assert found.stable(0.9).tolist() == [1, 4]
    assert found.share[2] == found.share[3]
    assert found.bound(0.9) == pytest.approx(2 * 2 / (0.8 * 5))
    assert selector.pair_stability_ is found
    assert pickle.loads(pickle.dumps(selector)).pair_stability_.share.tolist() == found.share.tolist()


def test_mistakes_are_named(rng):
    with pytest.raises(ParameterError, match=r"pair_stability_: threshold must be a share above 0.5 up to 1; got 0.5"):
        PairStability(np.zeros(2), 1, 2, 5).bound(0.5)
    X, Y = rng.random((3, 2)), np.eye(3)[:, :1]
    looks = look(RegressionViews, np.eye(2), np.arange(2), X, Y, **HOW)
    with pytest.raises(DataError, match="needs at least 4 labeled rows, two for a half; got 3"):
        pair_stability(looks, X, Y, 1, 0)

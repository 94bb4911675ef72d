"""Knockoffs are exchangeable with what they stand for, and the fast ones are the slow ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.sieve.knockoff_margins import PENALTIES, margins, path_importances, targets
from fedsieve.sieve.knockoffs import LEAST, coordinates_of, distances, knockoffs_of
from reference.knockoff_loops import exact_knockoffs, group_lasso, minimal_variance, whitened


def correlated(rng, n, d):
    """Rows of a random covariance."""
    return rng.standard_normal((n, d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d))) + rng.standard_normal(d)


def moments(X):
    return X.mean(axis=0), np.cov(X.T, bias=True).reshape(X.shape[1], -1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.booleans())
def test_second_moments_stay_when_units_and_knockoffs_change_places(seed, d, groups):
    rng = np.random.default_rng(seed)
    X, unit = correlated(rng, 60, d), np.arange(d) // 2 if groups else np.arange(d)
    mean, C = moments(X)
    knockoffs, coordinates = knockoffs_of(X, mean, C, unit, None)
    R, A = knockoffs.correlations, np.linalg.lstsq(knockoffs.rows, knockoffs.expected, rcond=None)[0]
    own, cross = A.T @ R @ A + knockoffs.root @ knockoffs.root, R @ A
    joint = np.block([[R, cross], [cross.T, own]])
    p = len(R)
    assert pytest.approx(coordinates.basis.T @ C @ coordinates.basis, abs=LEAST) == R
    for number in range(int(unit.max()) + 1):
        here = np.flatnonzero(coordinates.unit == number)
        places = np.arange(2 * p)
        places[here], places[here + p] = here + p, here
        assert joint[np.ix_(places, places)] == pytest.approx(joint, abs=1e-7)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_distances_are_those_of_minimal_variance(seed, d):
    X = correlated(np.random.default_rng(seed), 40, d)
    R = np.corrcoef(X.T)
    s, slow = distances(R), minimal_variance(R)

    def loss(s):
        return (1 / s).sum() + np.trace(np.linalg.inv(2 * R - np.diag(s)))

    assert np.linalg.eigvalsh(2 * R - np.diag(s))[0] > 0
    assert loss(s) <= loss(slow) * (1 + 1e-3)


def test_copies_of_a_column_do_not_break_the_rule():
    rng = np.random.default_rng(0)
    X = correlated(rng, 50, 4)[:, [0, 1, 1, 2, 3]]
    knockoffs, _ = knockoffs_of(X, *moments(X), np.arange(5), 50)
    assert np.isfinite(knockoffs.drawn(rng)).all()
    assert knockoffs.n_all is None
    assert knockoffs.distance[1:3] == pytest.approx([0, 0], abs=1e-3)


def test_exact_knockoffs_of_labeled_rows_are_distributed_as_those_of_all_rows():
    """Means and second moments over draws, given the rows, within a few standard errors."""
    rng = np.random.default_rng(3)
    X = correlated(rng, 30, 3)
    X[0] *= 20  # a leverage that counts
    mean, C = moments(X)
    knockoffs, coordinates = knockoffs_of(X[:4], mean, C, np.arange(3), len(X))
    assert knockoffs.n_all == 30
    everything = (X - mean) @ coordinates.basis
    fast = np.array([knockoffs.drawn(rng).ravel() for _ in range(1500)])
    slow = np.array([exact_knockoffs(everything, knockoffs.distance, rng)[:4].ravel() for _ in range(1500)])
    known = np.array([(knockoffs.expected + rng.standard_normal((4, 3)) @ knockoffs.root).ravel() for _ in range(1500)])

    def errors_apart(a, b):
        found = 0.0
        for of in (lambda draws: draws, lambda draws: draws[:, :, None] * draws[:, None, :]):
            error = np.sqrt((of(a).var(axis=0) + of(b).var(axis=0)) / len(a))
            found = max(found, np.max(np.abs(of(a).mean(axis=0) - of(b).mean(axis=0)) / error))
        return found

    assert errors_apart(fast, slow) <= 4.5
    assert errors_apart(known, slow) > 4.5  # as if mean and covariance were known


def test_few_other_rows_make_no_exact_knockoffs():
    X = correlated(np.random.default_rng(0), 20, 3)
    for n_labeled, exact in ((12, True), (13, False)):
        assert (knockoffs_of(X[:n_labeled], *moments(X), np.arange(3), 20)[0].n_all is not None) == exact


def test_codes_of_a_column_have_as_many_coordinates_as_they_tell():
    codes = np.eye(3)[np.random.default_rng(0).integers(0, 3, 50)]
    X = np.column_stack([codes, np.arange(50.0), np.ones(50)])
    found = coordinates_of(np.cov(X.T, bias=True), np.array([0, 0, 0, 1, 2]))
    assert found.unit.tolist() == [0, 0, 1]
    within = found.basis.T @ np.cov(X.T, bias=True) @ found.basis
    assert within[:2, :2] == pytest.approx(np.eye(2), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
def test_coordinates_of_a_unit_are_those_of_the_loops_in_whatever_order(seed, d, copies):
    rng = np.random.default_rng(seed)
    X = correlated(rng, 30, d) * rng.uniform(0.1, 9, d)
    X = np.column_stack([X, X @ np.linspace(0.5, 1, d), np.ones(30)]) if copies else X
    C = moments(X)[1]
    unit = np.zeros(len(C), dtype=np.int64)
    basis = coordinates_of(C, unit).basis
    assert basis == pytest.approx(whitened(C), abs=1e-6 * np.abs(basis).max())
    places = rng.permutation(len(C))
    again = coordinates_of(C[np.ix_(places, places)], unit).basis
    alike = again[np.argsort(places)] @ again[np.argsort(places)].T
    assert alike == pytest.approx(basis @ basis.T, abs=1e-6 * np.abs(basis).max() ** 2)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_exchanging_a_unit_with_its_knockoff_changes_the_sign_of_its_margin_alone(seed, wide, groups):
    rng = np.random.default_rng(seed)
    n, d = (12, 10) if wide else (40, 6)
    unit = np.arange(d) // 2 if groups else np.arange(d)
    n_units = int(unit.max()) + 1
    rows, others = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    T = targets((rows[:, :3] + rng.standard_normal((n, 3)) > 0).astype(float))
    before = margins(rows, others, unit, n_units, T)
    swapped = unit == rng.integers(n_units)
    after = margins(np.where(swapped, others, rows), np.where(swapped, rows, others), unit, n_units, T)
    sign = np.where(np.isin(np.arange(n_units), unit[swapped]), -1, 1)
    assert after == pytest.approx(sign * before, abs=1e-9 * np.abs(before).max())


@pytest.mark.parametrize("n", [15, 60])
def test_the_path_is_that_of_plain_proximal_gradients(n):
    rng = np.random.default_rng(n)
    Z, group = rng.standard_normal((n, 8)), np.array([0, 0, 1, 2, 3, 3, 3, 4])
    T = Z[:, [2, 4]] + 0.5 * rng.standard_normal((n, 2))
    Z, T = Z - Z.mean(axis=0), T - T.mean(axis=0)
    lengths = np.sqrt(np.bincount(group, ((Z.T @ T / n) ** 2).sum(axis=1)))
    largest = (lengths / np.sqrt(np.bincount(group))).max()
    slow = np.zeros(5)
    for share in PENALTIES:
        B = group_lasso(Z, group, 5, T, share * largest)
        slow += np.sqrt(np.bincount(group, (B**2).sum(axis=1))) / len(PENALTIES)
    assert path_importances(Z, group, 5, T) == pytest.approx(slow, abs=1e-3 * slow.max())


def test_unknown_labels_say_what_is_usual_and_constant_ones_nothing():
    Y = np.array([[1, 1, np.nan], [0, 1, 1], [1, 1, 0], [0, 1, 1.0]])
    T = targets(Y)
    assert T.shape == (4, 2)
    assert T[0, 1] == 0
    assert T.sum(axis=0) == pytest.approx(0)

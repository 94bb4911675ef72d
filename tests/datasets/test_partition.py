"""Rows spread over clients, and the server's labeled share: complete, seeded, as uneven or even as promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.datasets import partition
from fedsieve.errors import DataError, ParameterError

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def label_matrices(draw: st.DrawFn, min_rows: int = 2, max_rows: int = 120) -> np.ndarray:
    """Labels from rare to frequent, rows without labels among them, and labels that follow from others."""
    n_rows, n_labels = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, 8))
    frequency = draw(st.lists(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.5, 0.9]), min_size=n_labels, max_size=n_labels))
    Y = np.random.default_rng(draw(SEEDS)).random((n_rows, n_labels)) < frequency
    if draw(st.booleans()):
        Y[:, -1] |= Y[:, 0]
    return Y.astype(int)


@given(label_matrices(min_rows=12), st.integers(1, 6), st.floats(0.01, 100), SEEDS, st.integers(0, 2))
def test_dirichlet_gives_every_row_to_exactly_one_client(Y, n_clients, alpha, seed, min_rows):
    parts = partition.dirichlet(Y, n_clients, alpha, seed, min_rows=min_rows)
    assert len(parts) == n_clients
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(Y)))
    assert all(len(part) >= min_rows for part in parts)
    assert all(np.array_equal(part, np.sort(part)) for part in parts)


def test_dirichlet_fills_up_poor_clients_when_rows_are_just_enough():
    parts = partition.dirichlet(np.eye(20, 3, dtype=int), n_clients=10, alpha=0.01, random_state=0)
    assert [len(part) for part in parts] == [2] * 10


def test_poor_clients_take_from_the_richest():
    Y, tried = np.repeat(np.eye(2, dtype=int), [100, 300], axis=0), 0
    for seed in range(12):
        alone, filled = (partition.dirichlet(Y, 5, 1e-3, seed, min_rows=min_rows) for min_rows in (0, 2))
        if sorted(map(len, alone)) == [0, 0, 0, 100, 300]:
            tried += 1
            assert sorted(map(len, filled)) == [2, 2, 2, 100, 294]
    assert tried > 3


def test_dirichlet_follows_its_seed():
    Y = np.random.default_rng(1).integers(0, 2, (200, 4))
    first, again, other = (partition.dirichlet(Y, random_state=seed) for seed in (7, 7, 8))
    generated = partition.dirichlet(Y, random_state=np.random.default_rng(7))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(first, generated, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def skew(Y: np.ndarray, alpha: float, seed: int) -> float:
    """How far the clients' label frequencies are from those of all rows, on average."""
    parts = partition.dirichlet(Y, 5, alpha, seed, min_rows=5)
    return float(np.mean([np.abs(Y[part].mean(axis=0) - Y.mean(axis=0)).mean() for part in parts]))


def test_a_smaller_alpha_makes_clients_less_alike():
    Y = np.eye(4, dtype=int)[np.random.default_rng(2).integers(0, 4, 600)]
    few, some, many = (np.mean([skew(Y, alpha, seed) for seed in range(8)]) for alpha in (0.05, 0.5, 50.0))
    assert few > 1.3 * some
    assert some > 2.5 * many


def test_rows_without_labels_are_spread_by_shares_of_their_own():
    Y = np.zeros((400, 2), dtype=int)
    sizes = [len(part) for part in partition.dirichlet(Y, 4, alpha=0.1, random_state=1)]
    assert max(sizes) > 200  # far from 100 each: they are no label to be forgotten


@pytest.mark.parametrize("seed", range(6))
def test_rows_go_by_the_shares_of_their_own_labels_only(seed):
    """So small an alpha gives nearly all of a label to one client."""
    Y = np.repeat(np.eye(2, dtype=int), 300, axis=0)
    parts = partition.dirichlet(Y, 5, alpha=1e-3, random_state=seed, min_rows=0)
    for rows in (range(300), range(300, 600)):
        assert max(np.isin(part, rows).sum() for part in parts) > 290


@pytest.mark.parametrize("alpha", [0, -1.0, float("nan"), float("inf")])
def test_dirichlet_needs_a_positive_alpha(alpha):
    with pytest.raises(ParameterError, match="alpha must be a positive number; got"):
        partition.dirichlet([[1], [0]], 1, alpha)


@pytest.mark.parametrize(("n_clients", "n_rows"), [(0, 8), (5, 9)])
def test_dirichlet_needs_enough_rows_and_a_client(n_clients, n_rows):
    with pytest.raises(ParameterError, match=f"{n_clients} clients with at least 2 rows each .*; got {n_rows} rows"):
        partition.dirichlet(np.ones((n_rows, 1)), n_clients)


@pytest.mark.parametrize("split", [partition.dirichlet, lambda Y: partition.labeled_split(Y, 0.5)])
def test_labels_must_be_a_table_of_0_and_1(split):
    with pytest.raises(DataError, match=r"got shape \(3,\)"):
        split([1, 0, 1])
    with pytest.raises(DataError, match=r"Y must hold 0 and 1 only; got -1 \(1 of 8 entries are neither\)\.$"):
        split([[1, 0], [0, -1], [1, 1], [0, 0]])


@given(label_matrices(min_rows=3), st.sampled_from([0.1, 0.2, 0.35, 0.5, 0.8]), SEEDS)
def test_labeled_split_is_exact_disjoint_and_complete(Y, fraction, seed):
    n_labeled = round(fraction * len(Y))
    if not 0 < n_labeled < len(Y):
        with pytest.raises(ParameterError, match="must leave rows on both sides"):
            partition.labeled_split(Y, fraction, seed)
        return
    labeled, unlabeled = partition.labeled_split(Y, fraction, seed)
    assert len(labeled) == n_labeled
    assert np.array_equal(np.sort(np.concatenate([labeled, unlabeled])), np.arange(len(Y)))


def departures(Y: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """By how many rows each label misses its even share among the chosen rows."""
    return np.abs(Y[chosen].sum(axis=0) - Y.sum(axis=0) * len(chosen) / len(Y))


@given(label_matrices(min_rows=10), st.sampled_from([0.2, 0.5, 0.7]), SEEDS)
def test_labeled_split_keeps_the_share_of_every_label(Y, fraction, seed):
    labeled, _ = partition.labeled_split(Y, fraction, seed)
    missed = departures(Y, labeled)
    assert missed.max() <= 1 + 0.4 * np.sqrt(len(Y))
    present = Y.sum(axis=0) > 0
    if present.any():  # the rarest label is dealt with first and comes out to the row
        assert missed[np.argmin(np.where(present, Y.sum(axis=0), len(Y) + 1))] <= 0.5 + 1e-9


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.sampled_from([0.2, 0.5, 0.7]), SEEDS)
def test_labels_that_exclude_each_other_are_split_to_the_row(sizes, fraction, seed):
    Y = np.repeat(np.eye(len(sizes), dtype=int), sizes, axis=0)
    Y = np.vstack([Y, np.zeros((20, len(sizes)), dtype=int)])
    labeled, _ = partition.labeled_split(Y, fraction, seed)
    assert departures(Y, labeled).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_what_both_sides_want_alike_goes_where_more_rows_are_wanted(seed):
    labeled, _ = partition.labeled_split([[1, 0], [0, 1], [0, 0], [0, 0]], 0.5, seed)
    assert np.isin(labeled, [0, 1]).sum() == 1  # one of the two labels, not both or none


def test_labeled_split_is_better_than_a_random_one():
    rng = np.random.default_rng(4)
    ours, random = [], []
    for seed in range(20):
        Y = (rng.random((150, 6)) < [0.03, 0.1, 0.2, 0.3, 0.5, 0.7]).astype(int)
        labeled, _ = partition.labeled_split(Y, 0.2, seed)
        ours.append(departures(Y, labeled).mean())
        random.append(departures(Y, rng.permutation(150)[:30]).mean())
    assert np.mean(ours) < 0.5 * np.mean(random)


def test_labeled_split_follows_its_seed():
    Y = np.random.default_rng(1).integers(0, 2, (80, 3))
    first, again, other = (partition.labeled_split(Y, 0.3, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("fraction", [0, 1, -0.2, 1.5, float("nan")])
def test_labeled_split_needs_a_fraction(fraction):
    with pytest.raises(ParameterError, match="fraction must be above 0 and below 1; got"):
        partition.labeled_split([[1], [0], [1], [0]], fraction)


@given(label_matrices(min_rows=3), st.integers(2, 6), SEEDS)
def test_folds_are_equal_disjoint_and_complete(Y, n_folds, seed):
    if n_folds > len(Y):
        with pytest.raises(
            ParameterError, match=rf"n_folds must be a whole number in \[2, rows={len(Y)}\]; got {n_folds}"
        ):
            partition.stratified_folds(Y, n_folds, seed)
        return
    folds = partition.stratified_folds(Y, n_folds, seed)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(len(Y)))
    assert np.ptp([len(fold) for fold in folds]) <= 1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(2, 6), SEEDS)
def test_folds_have_equally_many_of_labels_that_exclude_each_other(sizes, n_folds, seed):
    Y = np.repeat(np.eye(len(sizes), dtype=int), sizes, axis=0)
    Y = np.vstack([Y, np.zeros((20, len(sizes)), dtype=int)])
    counts = np.array([Y[fold].sum(axis=0) for fold in partition.stratified_folds(Y, n_folds, seed)])
    assert np.ptp(counts, axis=0).max() <= 1


def test_folds_are_those_of_the_seed():
    Y = np.random.default_rng(1).integers(0, 2, (80, 3))
    first, again, other = (np.concatenate(partition.stratified_folds(Y, 4, seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)

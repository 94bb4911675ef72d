"""BMFS: rounds of cheapest matchings, the first of the cheapest, planted and degenerate tables."""

import os
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from fedsieve import datasets
from fedsieve.rivals.bmfs import BMFS, first_cheapest_assignment
from reference.rivals import bmfs_loops
from strategies import tables


def order(X, Y, **parameters):
    return BMFS(**parameters).fit(X, Y).order_.tolist()


def labels_for(X, n_labels, seed):
    """Random labels, none of them constant: for those the twin has cost 0 in either setting, and we have 1 in one."""
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), n_labels))
    Y[0], Y[-1] = 0, 1
    return Y


def costs_of(X, Y):
    C = bmfs_loops.costs(bmfs_loops.columns(X), bmfs_loops.columns(Y))
    return np.rint(np.array(C) * 1e10).astype(np.int64)


def rounds_of(ranked, n_labels):
    """Of each round: the features that were left, and those it took."""
    for start in range(0, len(ranked), n_labels):
        yield sorted(ranked[start:]), ranked[start : start + n_labels]


def has_one_solution(costs):
    """Whether the first of the cheapest assignments is the last one, too."""
    costs = costs if len(costs) <= costs.shape[1] else costs.T
    last = costs.shape[1] - 1 - first_cheapest_assignment(costs[:, ::-1])
    return np.array_equal(first_cheapest_assignment(costs), last)


@given(tables(max_features=8), st.integers(2, 4), st.sampled_from(["last", "published"]), st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_plain_loops_where_matchings_are_unique(X, n_labels, constant, seed):
    Y = labels_for(X, n_labels, seed)
    C, ours = costs_of(X, Y), order(X, Y, constant=constant)
    varying = [p for p in ours if constant == "published" or np.ptp(X[:, p]) > 0]
    if all(has_one_solution(C[left]) for left, _ in rounds_of(varying, n_labels)):
        assert ours == bmfs_loops.order(X, Y, constant=constant)


@given(tables(max_features=8), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_every_round_takes_features_of_a_cheapest_matching(X, n_labels, seed):
    Y = labels_for(X, n_labels, seed)
    C = costs_of(X, Y)
    for left, taken in rounds_of(order(X, Y, constant="published"), n_labels):
        assert C[taken][linear_sum_assignment(C[taken])].sum() == C[left][linear_sum_assignment(C[left])].sum()


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize("constant", ["last", "published"])
def test_the_order_of_emotions_is_that_of_plain_loops(constant):
    data = datasets.load("emotions")
    X, Y = data.X[:120], data.Y[:120]
    assert order(X, Y, constant=constant) == bmfs_loops.order(X, Y, constant=constant)


@pytest.fixture
def noise(rng):
    return rng.random((400, 12)), (rng.random((400, 3)) < [0.3, 0.5, 0.4]).astype(float)


def noisy(Y, rng, share=0.1):
    return np.abs(Y - (rng.random(Y.shape) < share))


def test_by_its_formula_mirror_images_of_a_label_are_the_worst_for_it(noise, rng):
    X, Y = noise
    X[:, [2, 5]] = -noisy(Y[:, [1, 1]], rng)
    assert set(order(X, Y[:, [1, 1]])[-2:]) == {2, 5}


def test_features_that_are_labels_come_first_in_the_order_of_frequencies(noise):
    X, Y = noise
    X[:, [8, 1, 4]] = Y
    assert np.argsort(-Y.sum(axis=0)).tolist() == [1, 2, 0]
    assert order(X, Y)[:3] == [1, 4, 8]


def test_constant_features_come_last_or_first_as_published(noise):
    X, Y = noise
    X[:, [0, 6]] = [7.0, 0.1]
    assert order(X, Y)[-2:] == [0, 6]
    assert {0, 6} < set(order(X, Y, constant="published")[:3])
    assert order(np.ones((400, 4)), Y) == order(np.ones((400, 4)), Y, constant="published") == [0, 1, 2, 3]


def test_the_smaller_of_two_equal_features_serves_the_more_frequent_label(rng):
    y = rng.integers(0, 2, 60)
    X = np.stack([rng.random(60), y, 3.0 * y + 1.0, y], axis=1)
    assert order(X, np.stack([y, y], axis=1)) == [1, 2, 0, 3]  # the last round takes both that are left


def test_a_constant_label_takes_what_the_others_leave(noise):
    X, Y = noise
    X[:, [8, 1, 4]] = Y
    with_empty = np.column_stack([Y, np.zeros(400)])
    assert order(X, with_empty)[:3] == [1, 4, 8]
    assert sorted(order(X, np.zeros((400, 2)))) == list(range(12))


def test_with_fewer_features_than_labels_one_round_does(rng):
    Y = (rng.random((80, 9)) < np.linspace(0.2, 0.8, 9)).astype(float)
    X = np.stack([rng.random(80), Y[:, 3], Y[:, 8]], axis=1)
    ranks = order(X, Y)
    assert ranks.index(2) < ranks.index(1)


def test_permuted_features_permute_the_order_and_scale_does_not_matter(noise, rng):
    X, Y = noise
    moved = rng.permutation(12)
    assert moved[order(1e6 * X[:, moved] - 3.0, Y)].tolist() == order(X, Y)


def by_trying(costs):
    """Of all injective maps: least cost, then the smallest columns, none (-1) after every column."""
    n_rows, n_columns = costs.shape
    padded = np.hstack([costs, np.zeros((n_rows, max(0, n_rows - n_columns)), dtype=int)])
    choices = permutations(range(padded.shape[1]), n_rows)
    best = min(choices, key=lambda c: (sum(padded[row, column] for row, column in enumerate(c)), c))
    return [column if column < n_columns else -1 for column in best]


@settings(max_examples=200)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_it_is_the_first_of_the_cheapest(n_rows, n_columns, n_values, seed):
    costs = np.random.default_rng(seed).integers(0, n_values, (n_rows, n_columns))
    assert first_cheapest_assignment(costs).tolist() == by_trying(costs)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_large_ones_use_every_column_once_at_least_cost(n_rows, n_columns, seed):
    costs = np.random.default_rng(seed).integers(0, 9, (n_rows, n_columns))
    chosen = first_cheapest_assignment(costs)
    rows = np.flatnonzero(chosen >= 0)
    assert len(rows) == len(set(chosen[rows])) == min(n_rows, n_columns)
    assert costs[rows, chosen[rows]].sum() == costs[linear_sum_assignment(costs)].sum()


def test_equal_costs_give_the_columns_in_order():
    assert first_cheapest_assignment(np.full((3, 5), 7)).tolist() == [0, 1, 2]
    assert first_cheapest_assignment(np.full((4, 2), 7)).tolist() == [0, 1, -1, -1]

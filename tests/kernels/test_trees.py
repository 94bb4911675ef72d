"""Importances in randomized trees, against trees of lists and fractions, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier

from fedsieve.kernels import tree_importances
from fedsieve.kernels.tree_steps import drawn_rows
from reference import sieve_loops as loops
from strategies import tables

seeds = st.integers(0, 2**32 - 1)


@st.composite
def labeled_tables(draw: st.DrawFn, min_rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Features, some of them copies, and labels, some of them constant or said by a feature."""
    X = draw(tables(min_rows=min_rows, max_rows=35, max_features=9))
    X = np.hstack([X, X[:, draw(st.lists(st.integers(0, X.shape[1] - 1), max_size=3))]])
    rng = np.random.default_rng(draw(seeds))
    Y = rng.random((len(X), draw(st.integers(1, 4)))) < draw(st.floats(0, 1))
    if draw(st.booleans()):
        Y[:, 0] = X[:, rng.integers(X.shape[1])] > 0.5
    return X, Y.astype(float)


def planted(rng: np.random.Generator, n_rows: int = 120, n_features: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the fourth column, one of them a band in its middle, which is not linear."""
    X = rng.random((n_rows, n_features))
    Y = np.column_stack([X[:, 3] > 0.6, np.abs(X[:, 3] - 0.5) < 0.2, rng.random(n_rows) < 0.3])
    return X, Y.astype(float)


@given(labeled_tables(), st.integers(1, 7), seeds)
def test_importances_are_those_of_the_loops(table, n_trees, seed):
    found = tree_importances(*table, n_trees, seed)
    assert_allclose(found, loops.tree_importances(*table, n_trees, seed), rtol=0, atol=1e-12)


@given(labeled_tables(), st.integers(1, 5), seeds, st.integers(4, 20))
def test_of_many_rows_each_tree_sees_those_that_the_loops_draw(table, n_trees, seed, most_rows):
    found = tree_importances(*table, n_trees, seed, most_rows=most_rows)
    assert_allclose(found, loops.tree_importances(*table, n_trees, seed, most_rows), rtol=0, atol=1e-12)


def test_rows_that_a_tree_sees_are_different_ones_and_all_are_as_likely():
    drawn = np.array([drawn_rows(50, 20, np.uint64(1), np.uint64(tree)) for tree in range(2000)])
    assert (np.diff(drawn, axis=1) > 0).all()
    times = np.bincount(drawn.ravel(), minlength=50)
    assert_allclose(times / 2000, 0.4, atol=5 * np.sqrt(0.4 * 0.6 / 2000))
    together = (drawn == 0).any(axis=1) & (drawn == 49).any(axis=1)
    assert together.mean() == pytest.approx(20 * 19 / (50 * 49), abs=0.05)


@pytest.mark.parametrize("n_threads", ["1", "4"])
def test_the_number_of_threads_plays_no_part(monkeypatch, rng, n_threads):
    X, Y = planted(rng, n_rows=40)
    monkeypatch.setenv("FEDSIEVE_THREADS", "2")
    expected = tree_importances(X, Y, 30, 5)
    monkeypatch.setenv("FEDSIEVE_THREADS", n_threads)
    assert_array_equal(tree_importances(X, Y, 30, 5), expected)
    assert_allclose(expected, loops.tree_importances(X, Y, 30, 5), rtol=0, atol=1e-12)


@given(labeled_tables(), st.randoms(use_true_random=False), seeds)
def test_importances_move_with_the_columns(table, random, seed):
    X, Y = table
    moved = list(range(X.shape[1]))
    random.shuffle(moved)
    assert_allclose(tree_importances(X[:, moved], Y, 10, seed), tree_importances(X, Y, 10, seed)[moved], atol=1e-12)


@given(labeled_tables(), st.randoms(use_true_random=False), seeds)
def test_the_order_of_labels_plays_no_part(table, random, seed):
    X, Y = table
    moved = list(range(Y.shape[1]))
    random.shuffle(moved)
    assert_array_equal(tree_importances(X, Y[:, moved], 10, seed), tree_importances(X, Y, 10, seed))


@given(labeled_tables(), seeds)
def test_importances_are_shares_and_columns_that_do_not_vary_have_none(table, seed):
    X, Y = table
    found = tree_importances(X, Y, 10, seed)
    assert (found >= 0).all()
    assert found.sum() == 0 or abs(found.sum() - 1) < 1e-12
    assert_array_equal(found[np.ptp(X, axis=0) == 0], 0)


@given(seeds, st.integers(0, 3), st.integers(1, 4))
def test_copies_share_what_one_of_them_alone_would_have(seed, copied, n_copies):
    """With four to eight columns, two are looked at in a node."""
    rng = np.random.default_rng(seed)
    X, Y = rng.random((30, 4)), rng.integers(0, 2, (30, 3)).astype(float)
    expected = tree_importances(X, Y, 10, seed)
    expected[copied] /= 1 + n_copies
    found = tree_importances(np.hstack([X, X[:, [copied] * n_copies]]), Y, 10, seed)
    assert_allclose(found, [*expected, *[expected[copied]] * n_copies], atol=1e-12)


@given(seeds)
def test_a_column_that_says_the_labels_has_most(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 5))
    Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] <= 0.5]).astype(float)
    assert tree_importances(X, Y, 50, seed)[2] > 0.5


def test_a_column_that_is_the_label_has_all():
    y = np.array([0.0, 1.0] * 5)
    assert_array_equal(tree_importances(y[:, None], y[:, None], 3), [1.0])


@given(tables(max_rows=20), st.sampled_from([0.0, 1.0]), seeds)
def test_labels_that_do_not_vary_give_nothing(X, value, seed):
    assert_array_equal(tree_importances(X, np.full((len(X), 2), value), 5, seed), 0)


@given(tables(min_rows=1, max_rows=3), seeds)
def test_fewer_than_four_rows_are_never_split(X, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (len(X), 3)).astype(float)
    assert_array_equal(tree_importances(X, Y, 5, seed), 0)


@pytest.mark.parametrize(
    ("n_left", "n_right", "carry_left", "carry_right"), [(5, 10, 1, 2), (5, 10, 4, 8), (7, 14, 3, 6), (2, 2, 1, 1)]
)
def test_a_split_that_leaves_a_label_equally_frequent_on_both_sides_is_no_gain(
    n_left, n_right, carry_left, carry_right
):
    """By floats 1/5 + 4/10 - 9/15 is more than 0."""
    x = np.repeat([0.0, 1.0], [n_left, n_right])
    y = np.concatenate([np.arange(n_left) < carry_left, np.arange(n_right) < carry_right])
    assert_array_equal(tree_importances(x[:, None], y[:, None].astype(float), 5), [0.0])


@given(seeds)
def test_a_row_on_the_threshold_goes_left(seed):
    """Between two neighboring floats a threshold is one of the two; the lower one is a split, the higher one none."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (20, 2)).astype(float)
    X = np.column_stack([np.where(Y[:, 0] == 1, np.nextafter(0.5, 1), 0.5), rng.random(20)])
    found = tree_importances(X, Y, 5, seed)
    assert_allclose(found, loops.tree_importances(X, Y, 5, seed), rtol=0, atol=1e-12)


def test_another_seed_gives_other_trees(rng):
    X, Y = planted(rng)
    assert not np.allclose(tree_importances(X, Y, 5, 0), tree_importances(X, Y, 5, 1))
    assert_array_equal(tree_importances(X, Y, 5, 0), tree_importances(X, Y, 5))


def test_the_best_feature_is_that_of_another_library(rng):
    X, Y = planted(rng)
    forest = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=0).fit(X, Y)
    ours = tree_importances(X, Y, 200)
    assert np.argmax(ours) == np.argmax(forest.feature_importances_) == 3
    assert_allclose(ours, forest.feature_importances_, atol=0.1)


@pytest.mark.parametrize("kind", ["two values", "few values", "continuous"])
@pytest.mark.parametrize("n_rows", [5, 63, 64, 65, 200])
def test_counting_finds_the_same_trees_as_weighing_rows_of_weight_1(kind, n_rows):
    """To the last bit: whole numbers are exact, in whatever order they are added."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 7))
    X = {"two values": np.where(X > 0.8, 3.5, -0.25), "few values": np.round(X), "continuous": X}[kind]
    X[:, 0] = 2.0  # constant
    Y = (rng.random((n_rows, 5)) < 0.3).astype(float)
    counted = tree_importances(X, Y, 8, seed=3, most_rows=130)
    np.testing.assert_array_equal(counted, tree_importances(X, Y, 8, 3, np.ones(n_rows), most_rows=130))
    assert counted.sum() == pytest.approx(1) or n_rows == 5

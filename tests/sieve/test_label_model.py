"""The penalty of the linear model: the closed form against rows that are really left out, and the laws of weights."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fedsieve.sieve.label_model import STRENGTHS, label_says, model_left_out
from reference import forward_loops
from reference import sieve_loops as loops


def rows_and_labels(seed, n_rows, n_columns, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    hidden = X[:, :2] @ rng.normal(size=(2, 3)) + noise * rng.normal(size=(n_rows, 3))
    return X, (hidden > 0).astype(float)


@given(st.integers(0, 2**32 - 1), st.integers(6, 14), st.integers(2, 20), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_penalty_is_that_of_rows_really_left_out(seed, n_rows, n_columns, noise):
    X, Y = rows_and_labels(seed, n_rows, n_columns, noise)
    assume(np.ptp(Y, axis=0).any())
    strength, explained = forward_loops.left_out(X, loops.targets(Y), forward_loops.says(Y))
    found = model_left_out(X, Y)
    assert found.strength == strength
    assert found.explained == pytest.approx(explained, rel=0, abs=1e-9)


def test_labels_that_follow_the_columns_get_a_weaker_penalty_than_labels_that_mean_nothing():
    X, Y = rows_and_labels(0, 80, 10, 0.1)
    dealt = [np.random.default_rng(seed).permutation(Y) for seed in range(5)]
    by_chance = [model_left_out(X, meaningless) for meaningless in dealt]
    assert model_left_out(X, Y).strength == STRENGTHS[0] < min(model.strength for model in by_chance)
    assert model_left_out(X, Y).explained > 0.4
    assert max(model.explained for model in by_chance) < 0.05


@given(st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_is_left_out_like_one_of_two_equal_rows(seed):
    X, Y = rows_and_labels(seed, 12, 5, 1.0)
    assume(np.ptp(Y, axis=0).any())
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    repeated = model_left_out(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    found = model_left_out(X, Y, times.astype(float))
    assert found.strength == repeated.strength
    assert found.explained == pytest.approx(repeated.explained, rel=0, abs=1e-9)


def test_a_label_that_is_unknown_in_some_rows_is_judged_by_the_others():
    X, Y = rows_and_labels(3, 40, 6, 0.5)
    Y = Y[:, :1]
    known = np.random.default_rng(0).random(40) < 0.6
    partly = np.where(known[:, None], Y, np.nan)
    found, expected = model_left_out(X, partly), model_left_out(X[known], Y[known])
    assert found.strength == expected.strength
    assert found.explained == pytest.approx(expected.explained, rel=0, abs=1e-12)


def test_labels_count_by_the_root_of_their_deviation():
    Y = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    first, second = label_says(Y)
    assert first / second == pytest.approx((3 / 16 / (1 / 4)) ** 0.25)
    assert first**2 + second**2 == pytest.approx(1)
    Y[1, 0] = np.nan
    first, second = label_says(Y)
    assert first / second == pytest.approx((2 / 9 / (1 / 4)) ** 0.25)
    first, second = label_says(Y, np.array([2.0, 1.0, 1.0, 1.0]))
    assert first / second == pytest.approx((1 / 4 / (6 / 25)) ** 0.25)

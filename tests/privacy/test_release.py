"""The promise, attacked: who knows all rows but one, and looks for that one, succeeds no better than epsilon allows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve import messages as m
from fedsieve.messages.base import Budget
from fedsieve.messages.clipped_moments import FRACTION, PAIRS, RADIUS
from fedsieve.privacy.noise import discrete_gaussian, noise_multiplier, noise_scales, seeded_words, with_noise
from fedsieve.tables import ArrayTable

N = 20_000
DELTA = 1e-3  # large enough to be told from chance in so many answers
REQUEST = m.AskClippedMoments(
    m.Columns(("a",), (), "error"),
    m.Scaling(np.zeros(1), np.ones(1), "declared"),
    np.zeros(1),
    np.full(1, 2.0 * RADIUS),
    np.array([[2 << FRACTION]]),
    PAIRS,
)


def answers(rows, budget, seed):
    """Many noisy answers about one table, as vectors: what `with_noise` draws, all at once."""
    exact = REQUEST.answer(ArrayTable(("a",), np.asarray(rows)))
    scales = noise_scales(REQUEST.noise_units(), noise_multiplier(budget.epsilon, budget.delta))
    one = with_noise(REQUEST, exact, budget, lambda _: None, seeded_words(seed)).values - exact.values
    assert_array_equal(one, discrete_gaussian(scales, seeded_words(seed)))
    return exact.values + discrete_gaussian(np.tile(scales, (N, 1)), seeded_words(seed))


def advantage(epsilon, budget):
    """The best of many thresholds: by how much finding the row exceeds exp(epsilon) times a false alarm."""
    others, longest = [[0.2]] * 5, [[1.0]]
    with_row, without = answers([*others, *longest], budget, 1), answers(others, budget, 2)
    change = REQUEST.answer(ArrayTable(("a",), np.asarray(longest))).values / REQUEST.noise_units() ** 2
    found, alarms = with_row @ change, without @ change  # the likelihood ratio grows with it
    levels = np.quantile(np.concatenate([found, alarms]), np.linspace(0.01, 0.995, 100))
    right, wrong = ((said[:, None] > levels).mean(axis=0) for said in (found, alarms))
    return float(np.max(right - np.exp(epsilon) * wrong))


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_the_best_attack_stays_within_the_promise_and_comes_near_it(epsilon):
    chance = 4 * np.sqrt(0.25 / N)
    assert advantage(epsilon, Budget(epsilon, DELTA)) <= DELTA + chance
    assert advantage(epsilon / 2, Budget(epsilon, DELTA)) > chance  # half of it would have been too much to promise


def test_a_budget_that_is_spent_lets_nothing_be_drawn():
    drawn = []

    def words(n):
        drawn.append(n)
        return seeded_words(1)(n)

    def refuse(multiplier):
        assert multiplier == noise_multiplier(1.0, 1e-6)
        raise RuntimeError("spent")

    reply = REQUEST.answer(ArrayTable(("a",), np.ones((3, 1))))
    with pytest.raises(RuntimeError):
        with_noise(REQUEST, reply, Budget(1.0, 1e-6), refuse, words)
    assert not drawn

"""How much noise a promise takes: against the accountant both ways, known values, and the noise really drawn."""

import sys

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from scipy.special import logsumexp
from scipy.stats import norm

from fedsieve.errors import MissingExtraError, ParameterError
from fedsieve.methods import SieveMethod
from fedsieve.privacy.noise import check_promise, epsilon_spent, noise_multiplier

EPSILONS = (0.1, 0.5, 1, 3, 8, 10)


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """The exact delta of continuous Gaussian noise (Balle and Wang 2018, theorem 8)."""
    a, b = 1 / (2 * multiplier), epsilon * multiplier
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


def discrete_delta(pmf: np.ndarray, step: int, epsilon: float) -> float:
    """The exact delta of whole-number noise with these probabilities, for sums that differ by `step`."""
    moved = np.concatenate([np.zeros(step), pmf])
    return np.maximum(np.concatenate([pmf, np.zeros(step)]) - np.exp(epsilon) * moved, 0).sum()


def pmf(scale: int) -> np.ndarray:
    x = np.arange(-12 * scale, 12 * scale + 1)
    log = -(x**2) / (2 * scale**2)
    return np.exp(log - logsumexp(log))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-5, 1e-8])
def test_there_and_back(epsilon, delta):
    multiplier = noise_multiplier(epsilon, delta)
    assert epsilon_spent([multiplier], delta) == pytest.approx(epsilon, rel=1e-4)
    assert epsilon_spent([multiplier], delta) <= epsilon * (1 + 1e-9)
    assert epsilon_spent([multiplier * 0.99], delta) > epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_promise_holds_for_gaussian_noise_and_is_not_far_too_careful(epsilon):
    multiplier = noise_multiplier(epsilon, 1e-6)
    assert gaussian_delta(multiplier, epsilon) <= 1e-6
    assert gaussian_delta(multiplier / 1.15, epsilon) > 1e-6


def test_known_values():
    """Of dp-accounting 0.6, written down: another version must not promise more for less noise."""
    found = [noise_multiplier(epsilon, 1e-6) for epsilon in (1, 3, 8)]
    assert found == pytest.approx([4.5309, 1.6437, 0.6893], abs=1e-3)
    accountant = PLDAccountant().compose(dp_accounting.GaussianDpEvent(found[0]))
    assert 0.9 < accountant.get_epsilon(1e-6) < 1  # the tighter one of the continuous Gaussian


@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_the_promise_holds_for_the_noise_that_is_drawn_in_one_piece_and_in_shares(epsilon):
    step, n_shares = 64, 9
    multiplier = noise_multiplier(epsilon, 1e-6)
    whole = pmf(int(np.ceil(multiplier * step)))
    assert 1e-9 < discrete_delta(whole, step, epsilon) <= 1e-6
    share = pmf(int(np.ceil(multiplier * step / np.sqrt(n_shares))))
    total = share
    for _ in range(n_shares - 1):
        total = np.convolve(total, share)
    assert 1e-9 < discrete_delta(total, step, epsilon) <= 1e-6
    fewer = share
    for _ in range(n_shares - 3):  # two of the honest sites left out theirs
        fewer = np.convolve(fewer, share)
    assert discrete_delta(fewer, step, epsilon) > discrete_delta(total, step, epsilon)


def test_answers_compose_like_one_with_less_noise():
    assert epsilon_spent([6.0] * 9, 1e-6) == pytest.approx(epsilon_spent([2.0], 1e-6))
    assert epsilon_spent([3.0, 4.0], 1e-6) == pytest.approx(epsilon_spent([2.4], 1e-6))
    assert epsilon_spent([], 1e-6) == 0
    several = [epsilon_spent([5.0] * n, 1e-6) for n in range(1, 6)]
    assert np.all(np.diff(several) > 0)
    assert several[3] < 4 * several[0]  # four answers cost about twice one


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (0, 1e-6, r"Sieve: epsilon must be in \[0.01, 100\], or None; got 0."),
        (-1.0, 1e-6, "epsilon must be in"),
        (float("nan"), 1e-6, "epsilon must be in"),
        (float("inf"), 1e-6, "epsilon must be in"),
        (1.0, 0, "Sieve: delta must be above 0 and at most 0.01; got 0."),
        (1.0, 0.5, "delta must be above 0"),
    ],
)
def test_promises_that_mean_nothing_are_refused(epsilon, delta, said):
    with pytest.raises(ParameterError, match=said):
        check_promise("Sieve", epsilon, delta)


def test_without_the_extra_one_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    said = r"Sieve needs the package 'dp-accounting'. Install it with: pip install \"fedsieve\[private\]\""
    with pytest.raises(MissingExtraError, match=said):
        SieveMethod(("a", "b"), epsilon=1.0)
    SieveMethod(("a", "b"))  # needs nothing

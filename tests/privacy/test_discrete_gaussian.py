"""The noise that is drawn has the probabilities that were promised. Seeds are fixed: a test fails always or never."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from fedsieve.errors import ParameterError
from fedsieve.privacy.noise import discrete_gaussian, noise_scales, seeded_words, system_words
from fedsieve.privacy.noise.discrete_gaussian import MAX_SCALE, _Draws

LEVEL = 1e-4  # a sampler with the right probabilities would fail for one seed in so many
N = 100_000


def probabilities(scale: float, most: int) -> np.ndarray:
    """Of -most, ..., most."""
    mass = np.exp(-(np.arange(-most, most + 1) ** 2) / (2 * scale**2))
    return mass / mass.sum()


def fits(drawn: np.ndarray, expected: np.ndarray) -> bool:
    """Pearson's chi-square over cells of at least five."""
    rare = expected * drawn.sum() < 5
    cells = [(drawn[~rare], expected[~rare]), ([drawn[rare].sum()], [expected[rare].sum()])]
    f_obs, f_exp = (np.concatenate(part) for part in zip(*cells, strict=True))
    present = f_exp > 0
    return stats.chisquare(f_obs[present], f_exp[present] / f_exp.sum() * f_obs.sum()).pvalue > LEVEL


@pytest.mark.parametrize("scale", [1, 2, 3, 10])
def test_small_scales_have_exactly_these_probabilities(scale):
    most = 12 * scale
    drawn = discrete_gaussian(np.full(N, scale), seeded_words(scale))
    counts = np.bincount(drawn + most, minlength=2 * most + 1)
    assert fits(counts, probabilities(scale, most))
    assert not fits(counts, probabilities(scale * 1.02, most))  # the test sees two percent


@pytest.mark.parametrize("scale", [1000, 2**33 + 7, MAX_SCALE])
def test_large_scales_are_normal(scale):
    drawn = discrete_gaussian(np.full(N, scale), seeded_words(5))
    edges = np.linspace(-3, 3, 61)
    counts = np.histogram(drawn / scale, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    assert fits(counts, np.diff(stats.norm.cdf(np.concatenate([[-np.inf], edges, [np.inf]]))))


def test_low_digits_of_large_noise_are_uniform():
    drawn = discrete_gaussian(np.full(N, 2**40), seeded_words(6))
    assert fits(np.bincount(drawn % 64, minlength=64), np.full(64, 1 / 64))


def test_each_number_has_its_own_scale_and_nothing_to_do_with_the_others():
    scales = np.array([1, 50, 2000, 2**30])
    drawn = discrete_gaussian(np.tile(scales, (20_000, 1)), seeded_words(7)) / scales
    assert drawn.shape == (20_000, 4)
    np.testing.assert_allclose(drawn.std(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(np.corrcoef(drawn, rowvar=False), np.eye(4), atol=0.04)


@pytest.mark.parametrize(("n_sites", "n_shares"), [(10, 10), (10, 7), (4, 3)])
def test_shares_of_the_smallest_honest_cohort_add_up_to_the_whole_noise(n_sites, n_shares):
    whole = 700.0
    scales = noise_scales(np.array([whole]), 1.0, n_shares)
    shares = discrete_gaussian(np.full((30_000, n_sites), scales[0]), seeded_words(8, n_sites))
    assert shares[:, :n_shares].sum(axis=1).std() == pytest.approx(whole, rel=0.02)
    assert shares.sum(axis=1).std() == pytest.approx(whole * np.sqrt(n_sites / n_shares), rel=0.02)
    assert scales[0] ** 2 * n_shares >= whole**2  # rounded up, never down


def test_shares_are_never_too_coarse_to_add_up():
    assert_array_equal(noise_scales(np.array([1.0, 1e6]), 0.5, 1000), [16, 15812])


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**33 + 1, 2**62])
def test_uniform_numbers_are_uniform(bound):
    drawn = _Draws(seeded_words(9)).below(np.full(N, bound))
    assert drawn.min() >= 0
    assert drawn.max() < bound
    cells = min(bound, 10)
    if bound > 1:
        assert fits(
            np.bincount(drawn * cells // bound if bound < 2**50 else drawn // (bound // cells + 1)),
            np.full(cells, 1 / cells),
        )


def test_words_of_an_incomplete_turn_are_drawn_again():
    """Modulo 3, the word 0 is one too many: 2**64 is 3 k + 1."""
    words = iter([np.array([0], dtype=np.uint64), np.array([0], dtype=np.uint64), np.array([5], dtype=np.uint64)])
    assert _Draws(lambda _: next(words)).below(np.array([3])) == [2]


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_events_of_probability_exp_minus_p(p):
    draws, rng = _Draws(seeded_words(10)), np.random.default_rng(11)
    happened = draws.exp_minus(N, lambda on: rng.random(len(on)) < p)
    assert stats.binomtest(int(happened.sum()), N, np.exp(-p)).pvalue > LEVEL


@pytest.mark.parametrize("scales", [[0], [5, -1], [MAX_SCALE + 1]])
def test_scales_that_are_none_are_refused(scales):
    with pytest.raises(ParameterError, match="noise: scales must be whole numbers in"):
        discrete_gaussian(np.array(scales))


def test_the_system_s_noise_is_never_the_same_and_seeded_noise_always():
    scales = np.full(20, 2**40)
    assert not np.array_equal(discrete_gaussian(scales), discrete_gaussian(scales, system_words))
    assert_array_equal(discrete_gaussian(scales, seeded_words(1)), discrete_gaussian(scales, seeded_words(1)))
    assert discrete_gaussian(np.zeros(0, dtype=np.int64)).shape == (0,)

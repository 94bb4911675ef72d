"""Differential privacy: how much noise a promise takes, drawing it, adding it before an answer leaves."""

from fedsieve.privacy.noise.calibration import check_promise, epsilon_spent, noise_multiplier
from fedsieve.privacy.noise.discrete_gaussian import Words, discrete_gaussian, seeded_words, system_words
from fedsieve.privacy.noise.release import least_honest, noise_scales, with_noise

__all__ = [
    "Words",
    "check_promise",
    "discrete_gaussian",
    "epsilon_spent",
    "least_honest",
    "noise_multiplier",
    "noise_scales",
    "seeded_words",
    "system_words",
    "with_noise",
]

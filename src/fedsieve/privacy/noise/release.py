"""An answer before it leaves: whole-number noise on every number, a site's share of what the promise needs."""

from collections.abc import Callable

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.messages import Reply, Request
from fedsieve.messages.base import Budget
from fedsieve.privacy.noise.calibration import noise_multiplier
from fedsieve.privacy.noise.discrete_gaussian import Words, discrete_gaussian, system_words
from fedsieve.privacy.secure_sum.shamir import threshold

LEAST_SCALE = 16  # of a share: sums of coarser ones are no longer as good as one draw (exp(-π² 16²) is nothing)


def noise_scales(units: Float, multiplier: float, n_shares: int = 1) -> Int:
    """Per number the standard deviation of one site's noise, rounded up to a whole number.

    `units` is the noise of multiplier 1. A share has 1/√n_shares of the whole: variances of independent shares add up,
    so that n_shares honest sites together have it, whatever others leave out.

    >>> noise_scales(np.array([1000.0, 2000.0]), 4.5, n_shares=9)
    array([1500, 3000])
    """
    scales: Int = np.maximum(np.ceil(units * multiplier / np.sqrt(n_shares)), LEAST_SCALE).astype(np.int64)
    return scales


def least_honest(n_sites: int) -> int:
    """How many sites of a secure sum among so many stay in it and keep their noise to themselves, at least.

    A sum has t sites or more (`shamir.threshold`), of which 2t - n - 1 may be the server's friends: with one more of
    them the masks would not hold either. So noise that n - t + 1 sites share holds as long as the masks do.

    >>> [least_honest(n) for n in (3, 4, 9, 10, 100)]
    [1, 2, 3, 4, 34]
    """
    return n_sites - threshold(n_sites) + 1


def with_noise(
    request: Request,
    reply: Reply,
    budget: Budget,
    spend: Callable[[float], None],
    words: Words = system_words,
    n_shares: int = 1,
) -> Reply:
    """The reply with fresh noise. `spend` is told the multiplier before any is drawn, and may raise."""
    multiplier = noise_multiplier(budget.epsilon, budget.delta)
    spend(multiplier)
    scales = noise_scales(request.noise_units(), multiplier, n_shares)
    return reply.plus(discrete_gaussian(scales, words))

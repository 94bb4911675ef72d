"""Two groups of rows dealt at random, row by row: how far apart they are in a column's bins."""

import numpy as np

from fedsieve.arrays import Float, Int


def dealt_distances(own: Int, others: Int, n_draws: int, seed: int = 0) -> Float:
    """The distances of so many deals of the same rows into groups of the same sizes."""
    rng, n_bins = np.random.default_rng(seed), len(own)
    bin_of = np.repeat(np.arange(n_bins), own + others)
    drawn = []
    for _ in range(n_draws):
        rng.shuffle(bin_of)
        here, there = bin_of[: own.sum()], bin_of[own.sum() :]
        apart = [abs(np.mean(here == one) - np.mean(there == one)) for one in range(n_bins)]
        drawn.append(sum(apart) / 2)
    return np.array(drawn)

"""Sieve's streams of chance: every purpose has one of its own, so that no two see the same draws of a seed."""

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What chance is for. 0 is left free: a seed without a purpose draws as purpose 0 does."""

    CHOICE = 1  # folds, where the number of features is chosen
    BOOTSTRAPS = 2
    CHANCE = 3  # labels dealt anew
    KNOCKOFFS = 4
    HALVES = 5  # complementary pairs

    def rng(self, seed: int, number: int) -> np.random.Generator:
        """Of one of its draws."""
        return np.random.default_rng([seed, self.value, number])

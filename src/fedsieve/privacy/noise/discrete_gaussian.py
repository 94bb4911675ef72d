"""Whole-number Gaussian noise, drawn exactly: no logarithm, no rounding, nothing but random words and comparisons.

The sampler is that of Canonne, Kamath and Steinke (2020), for whole standard deviations and many numbers at a time. A
normal number that is rounded, as usual generators make it, leaves gaps that have given data away (Mironov 2012).
"""

import os
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Bool, Int
from fedsieve.errors import ParameterError

Word: TypeAlias = NDArray[np.uint64]
Words: TypeAlias = Callable[[int], Word]
"""So many uniform words of 64 bits."""
Event: TypeAlias = Callable[[Int], Bool]
MAX_SCALE = 1 << 52  # dozens of times this still fit into 64 bits


def system_words(n: int) -> Word:
    """From the operating system, as keys are: what a site uses. Whoever could guess them could take noise away."""
    return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)


def seeded_words(*seed: int) -> Words:
    """Always the same, for tests and experiments; noise that can be drawn again protects nobody."""
    rng = np.random.default_rng(list(seed))
    return lambda n: rng.integers(0, 2**64, n, dtype=np.uint64)


def discrete_gaussian(scale: Int, words: Words = system_words) -> Int:
    """One number for each scale s: x with probability in proportion to exp(-x² / (2 s²)), all independent.

    A number y of the discrete Laplace distribution of scale s is kept with probability
    exp(-(|y| - s)² / (2 s²)), and drawn again otherwise.
    """
    if scale.size and not (scale.min() >= 1 and scale.max() <= MAX_SCALE):
        raise ParameterError(f"noise: scales must be whole numbers in [1, {MAX_SCALE}]; got {scale.min()} and more.")
    draws, flat = _Draws(words), scale.ravel()
    found, left = np.zeros(flat.size, dtype=np.int64), np.arange(flat.size)
    while len(left):
        s = flat[left]
        y = draws.discrete_laplace(s)
        kept = draws.near(np.abs(np.abs(y) - s), s)
        found[left[kept]] = y[kept]
        left = left[~kept]
    return found.reshape(scale.shape)


class _Draws:
    """Exact random events, many at a time; `on` are the indices of those that are still to be decided."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def near(self, r: Int, s: Int) -> Bool:
        """True with probability exp(-(r/s)²/2); with r = i s + f that is exp(-1/2)^(i²) exp(-f/s)^i exp(-(f/s)²/2)."""
        i, f = r // s, r % s
        kept = self.exp_minus(
            len(s), lambda on: self.ratio(f[on], s[on]) & self.ratio(f[on], s[on]) & self.coin(len(on))
        )
        kept = self._again(kept, i * i, lambda on: self.coin(len(on)))
        return self._again(kept, i, lambda on: self.ratio(f[on], s[on]))

    def _again(self, kept: Bool, times: Int, event: Event) -> Bool:
        """Kept where exp(-p) says so as many times, p being the event's probability."""
        done = 0
        while len(on := np.flatnonzero(kept & (times > done))):
            kept[on] = self.exp_minus(len(on), lambda some, on=on: event(on[some]))  # type: ignore[misc]
            done += 1
        return kept

    def discrete_laplace(self, t: Int) -> Int:
        """y with probability in proportion to exp(-|y| / t)."""
        found, left = np.zeros(len(t), dtype=np.int64), np.arange(len(t))
        while len(left):
            part = t[left]
            rest = self.below(part)
            kept = self.exp_minus(len(left), lambda on, a=rest, b=part: self.ratio(a[on], b[on]))  # type: ignore[misc]
            times, going = np.zeros(len(left), dtype=np.int64), np.flatnonzero(kept)
            while len(going):  # a geometric number of whole t's
                going = going[self.exp_minus(len(going), lambda on: np.ones(len(on), dtype=bool))]
                times[going] += 1
            size, negative = rest + part * times, self.coin(len(left))
            kept &= ~(negative & (size == 0))  # else 0 would count twice
            found[left[kept]] = np.where(negative, -size, size)[kept]
            left = left[~kept]
        return found

    def exp_minus(self, n: int, event: Event) -> Bool:
        """True with probability exp(-p), where `event` has probability p.

        Draw events of probability p/1, p/2, p/3, ... until one fails: it is an odd one with probability
        1 - p + p²/2! - ... = exp(-p).
        """
        k, on = np.ones(n, dtype=np.int64), np.arange(n)
        while len(on):
            on = on[event(on) & (self.below(k[on]) == 0)]
            k[on] += 1
        odd: Bool = k % 2 == 1
        return odd

    def ratio(self, a: Int, b: Int) -> Bool:
        """True with probability a / b."""
        return self.below(b) < a

    def coin(self, n: int) -> Bool:
        """True with probability 1/2."""
        heads: Bool = self._words(n) >> np.uint64(63) == 1
        return heads

    def below(self, b: Int) -> Int:
        """Uniform in 0, ..., b - 1; words of the incomplete last turn of b are drawn again."""
        bound = b.astype(np.uint64)
        incomplete = (~bound + np.uint64(1)) % bound  # 2**64 modulo b
        word = self._words(len(b)).copy()
        while len(bad := np.flatnonzero(word < incomplete)):
            word[bad] = self._words(len(bad))
        return (word % bound).astype(np.int64)

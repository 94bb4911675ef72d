"""Parents and children of many variables at once: candidates that no small set of the others separates from the target.

All tests of a level go out together. Their results do not depend on each other, so the strict order in which candidates
are removed, weakest first, is then played through on the results.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.correlation import chance_of
from fedsieve.messages import Columns
from fedsieve.messages.covariances import Covariances
from fedsieve.messages.partial_correlations import AskPartialCorrelations, PartialCorrelations, site_correlations
from fedsieve.ordering import ranked
from fedsieve.protocol.cohort import Cohort, Steps

DECIMALS = 10  # of an association, so that no order depends on a machine's rounding
MANY_ROWS = 5000  # above, chance is judged more strictly unless a level is given
MAX_TESTS = 1 << 20  # that go out together
WORD = 8  # bytes of a number
MAJORITY = 0.5  # of the rows, for independence; as many for dependence are enough


@dataclass(frozen=True, eq=False)
class Tests:
    """Pairs of variables, and for each pair the variables that are given, (n_pairs, n_given)."""

    first: Int
    second: Int
    given: Int


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Per test: whether the sites together find dependence, independence or cannot tell, and how strong it is."""

    dependent: Bool
    independent: Bool
    association: Float


class Sites(Protocol):
    """Who can be asked for partial correlations."""

    def correlations(self, tests: Tests) -> Steps[list[tuple[int, Float]]]:
        """Each site's number of rows and its partial correlations, NaN where it cannot tell."""


class SentCovariances:
    """Sites whose covariances are at the server: all tests are made there."""

    def __init__(self, sites: list[Covariances]) -> None:
        self._sites = [(site.n_rows, site.deviations()) for site in sites]

    def correlations(self, tests: Tests) -> Steps[list[tuple[int, Float]]]:
        """Compute here; nobody is asked."""
        yield from ()
        return [
            (n_rows, site_correlations(deviations, tests.first, tests.second, tests.given))
            for n_rows, deviations in self._sites
        ]


class AskedSites:
    """Sites that make every test themselves; the server's own rows are one more site."""

    def __init__(self, columns: Columns, labels: tuple[str, ...], cohort: Cohort, own: Covariances) -> None:
        self._columns, self._labels, self._cohort, self._own = columns, labels, cohort, SentCovariances([own])

    def correlations(self, tests: Tests) -> Steps[list[tuple[int, Float]]]:
        """One round."""
        request = AskPartialCorrelations(self._columns, self._labels, tests.first, tests.second, tests.given)
        replies: dict[str, PartialCorrelations] = yield from self._cohort.each(request)
        own = yield from self._own.correlations(tests)
        return [*((reply.n_rows, reply.values) for reply in replies.values()), *own]


@dataclass(eq=False)
class Neighbors:
    """What is left of a target's candidates, strongest first, and which set separated each of those that went."""

    target: int
    near: Int
    separators: dict[int, tuple[int, ...]] = field(default_factory=dict)
    association: Float = field(default_factory=lambda: np.zeros(0))  # with all candidates, in the order given


@dataclass(frozen=True, eq=False)
class CausalSearch:
    """How to search, and whom to ask.

    `alpha` is the p-value above which two variables count as independent; `None` follows from the number of rows.
    """

    sites: Sites
    alpha: float | None
    max_conditioning: int
    max_pool: int
    max_message_bytes: int
    votes: bool = False  # each site judges by itself, and the sites with more rows win; else p-values are averaged

    def judge(self, tests: Tests) -> Steps[Verdicts]:
        """The mean of the sites' p-values or verdicts, and of their correlations' sizes, weighted by their rows.

        A site that cannot tell, having too few rows or a constant among the pair, is left out of the first.
        """
        n_given, n_tests = tests.given.shape[1], len(tests.first)
        sites = yield from self.sites.correlations(tests)
        total = sum(n_rows for n_rows, _ in sites)
        alpha = self.alpha if self.alpha is not None else 0.01 if total > MANY_ROWS else 0.05
        chance, able, size = np.zeros(n_tests), np.zeros(n_tests), np.zeros(n_tests)
        for n_rows, correlation in sites:
            known = ~np.isnan(correlation)
            correlation = np.where(known, correlation, 0.0)
            size += n_rows * np.abs(correlation)
            if n_rows - n_given - 3 > 0:
                p = chance_of(correlation, n_rows, n_given)
                chance += n_rows * np.where(known, p > alpha if self.votes else p, 0.0)
                able += n_rows * known
        found = np.divide(chance, able, out=np.full(n_tests, np.nan), where=able > 0)
        most = MAJORITY if self.votes else alpha
        return Verdicts(found <= most, found > most, size / total)  # neither holds for NaN

    def neighbors(self, targets: list[tuple[int, Int]]) -> Steps[list[Neighbors]]:
        """The parents and children of each target among its candidates."""
        found = yield from self._dependent(targets)
        for n_given in range(1, self.max_conditioning + 1):
            open_targets = [one for one in found if len(one.near) > n_given]
            levels = [_Level(one, n_given, self.max_pool) for one in open_targets]
            for chunk in _chunks(levels, self.max_message_bytes // (2 * WORD * (2 + n_given))):
                tests = [level.tests() for level in chunk]
                verdicts = yield from self.judge(_joined(tests))
                ends = np.cumsum([len(part.first) for part in tests])[:-1]
                for level, separated in zip(chunk, np.split(verdicts.independent, ends), strict=True):
                    level.remove(separated)
        return found

    def _dependent(self, targets: list[tuple[int, Int]]) -> Steps[list[Neighbors]]:
        """Level 0: the candidates that depend on the target, given nothing."""
        sizes = [len(candidates) for _, candidates in targets]
        first = np.concatenate([np.zeros(0, np.int64), *(candidates for _, candidates in targets)])
        second = np.repeat(np.array([target for target, _ in targets], dtype=np.int64), sizes)
        verdicts = yield from self.judge(Tests(first, second, np.empty((len(first), 0), dtype=np.int64)))
        ends = np.cumsum(sizes)[:-1]
        parts = zip(targets, np.split(verdicts.dependent, ends), np.split(verdicts.association, ends), strict=True)
        found = []
        for (target, candidates), dependent, association in parts:
            order = ranked(association, -candidates, decimals=DECIMALS)
            near = candidates[order][dependent[order]]
            found.append(Neighbors(target, near, association=association))
        return found


class _Level:
    """All sets of one size, out of the strongest neighbors, against all neighbors of one target."""

    def __init__(self, neighbors: Neighbors, n_given: int, max_pool: int) -> None:
        self._neighbors = neighbors
        pool = min(max_pool, len(neighbors.near))
        self._sets: Int = np.array(list(combinations(range(pool), n_given)), dtype=np.int64).reshape(-1, n_given)
        place = np.arange(len(neighbors.near))
        self._asked: Bool = ~(self._sets[None] == place[:, None, None]).any(axis=2)  # no set holds the neighbor itself

    @property
    def size(self) -> int:
        return int(self._asked.sum())

    def tests(self) -> Tests:
        near = self._neighbors.near
        whose, which = np.nonzero(self._asked)
        return Tests(near[whose], np.full(len(whose), self._neighbors.target), near[self._sets[which]])

    def remove(self, separated: Bool) -> None:
        """From the weakest neighbor to the strongest: it goes if a set of those still there separates it."""
        near = self._neighbors.near
        separates = np.zeros(self._asked.shape, dtype=bool)
        separates[self._asked] = separated
        left = np.ones(len(near), dtype=bool)
        for place in np.flatnonzero(separates.any(axis=1))[::-1]:
            usable = np.flatnonzero(separates[place] & left[self._sets].all(axis=1))
            if len(usable):
                left[place] = False
                self._neighbors.separators[int(near[place])] = tuple(int(v) for v in near[self._sets[usable[0]]])
        self._neighbors.near = near[left]


def _chunks(levels: list[_Level], most: int) -> Iterator[list[_Level]]:
    """Targets whose tests go out together, so many at most unless one target alone has more."""
    chunk: list[_Level] = []
    size = 0
    for level in levels:
        if chunk and size + level.size > min(most, MAX_TESTS):
            yield chunk
            chunk, size = [], 0
        chunk.append(level)
        size += level.size
    if chunk:
        yield chunk


def _joined(tests: list[Tests]) -> Tests:
    return Tests(
        np.concatenate([part.first for part in tests]),
        np.concatenate([part.second for part in tests]),
        np.concatenate([part.given for part in tests]),
    )

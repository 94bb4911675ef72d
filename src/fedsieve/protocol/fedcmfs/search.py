"""Parents and children of many variables at once: candidates that no small set of the others separates from the target.

All tests of a level go out together. Their results do not depend on each other, so the strict order in which candidates
are removed, weakest first, is then played through on the results.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.protocol.cohort import Talk
from fedsieve.protocol.fedcmfs.evidence import Sites, Tests, judge
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan

DECIMALS = 10  # of an association, so that no order depends on a machine's rounding
MAX_TESTS = 1 << 20  # that go out together
WORD = 8  # bytes of a number


@dataclass(eq=False)
class Neighbors:
    """What is left of a target's candidates, strongest first, and which set separated each of those that went."""

    target: int
    near: Int
    separators: dict[int, tuple[int, ...]] = field(default_factory=dict)
    association: Float = field(default_factory=lambda: np.zeros(0))  # with all candidates, in the order given


def search(plan: FedCMFSPlan, sites: Sites, targets: list[tuple[int, Int]]) -> Talk[list[Neighbors]]:
    """The neighbors of each target among its candidates."""
    found = yield from _dependent(plan, sites, targets)
    for n_given in range(1, plan.max_conditioning + 1):
        open_targets = [one for one in found if len(one.near) > n_given]
        levels = [_Level(one, n_given, plan.max_pool) for one in open_targets]
        for chunk in _chunks(levels, plan.max_message_bytes // (2 * WORD * (2 + n_given))):
            tests = [level.tests() for level in chunk]
            verdicts = yield from judge(plan, sites, _joined(tests))
            ends = np.cumsum([len(part.first) for part in tests])[:-1]
            for level, separated in zip(chunk, np.split(verdicts.independent, ends), strict=True):
                level.remove(separated)
    return found


def _dependent(plan: FedCMFSPlan, sites: Sites, targets: list[tuple[int, Int]]) -> Talk[list[Neighbors]]:
    """Level 0: the candidates that depend on the target, given nothing."""
    sizes = [len(candidates) for _, candidates in targets]
    first = np.concatenate([np.zeros(0, np.int64), *(candidates for _, candidates in targets)])
    second = np.repeat(np.array([target for target, _ in targets], dtype=np.int64), sizes)
    verdicts = yield from judge(plan, sites, Tests(first, second, np.empty((len(first), 0), dtype=np.int64)))
    ends = np.cumsum(sizes)[:-1]
    parts = zip(targets, np.split(verdicts.dependent, ends), np.split(verdicts.association, ends), strict=True)
    found = []
    for (target, candidates), dependent, association in parts:
        order = np.lexsort([candidates, -np.round(association, DECIMALS)])
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

"""Whether variables hang together: each site's partial correlations, and one p-value for all sites."""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.measures.correlation import chance_of
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan
from fedsieve.protocol.labeled_answers import correlations_here
from fedsieve.protocol.plan import Labeled


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

    def correlations(self, tests: Tests) -> Talk[list[tuple[int, Float]]]:
        """Each site's number of rows and its partial correlations, NaN where it cannot tell."""


class SentStatistics:
    """Sites that sent their covariances: all tests are made at the server."""

    def __init__(self, statistics: list[m.Covariances]) -> None:
        self._products = [(site.n_rows, site.products()) for site in statistics]

    def correlations(self, tests: Tests) -> Talk[list[tuple[int, Float]]]:
        """Compute here; nobody is asked."""
        yield from ()
        return [
            (n_rows, correlations_here(products, tests.first, tests.second, tests.given))
            for n_rows, products in self._products
        ]


class AskedSites:
    """Sites that make every test themselves; the server's own rows are one more site."""

    def __init__(self, plan: FedCMFSPlan, cohort: Cohort, own: m.Covariances) -> None:
        self._plan, self._cohort, self._own = plan, cohort, SentStatistics([own])

    def correlations(self, tests: Tests) -> Talk[list[tuple[int, Float]]]:
        """One round."""
        request = m.AskPartialCorrelations(
            self._plan.columns, self._plan.labels, tests.first, tests.second, tests.given
        )
        replies: list[m.PartialCorrelations] = yield from self._cohort.ask(request)
        own = yield from self._own.correlations(tests)
        return [*((reply.n_rows, reply.values) for reply in replies), *own]


def gather(plan: FedCMFSPlan, labeled: Labeled, cohort: Cohort) -> Talk[Sites]:
    """The sites in the plan's wire form; under "pooled" all of them together are one."""
    own = m.Covariances.of(plan.features, plan.labels, np.hstack([labeled.X, labeled.Y]))
    if plan.wire == "tests":
        return AskedSites(plan, cohort, own)
    statistics = [*(yield from cohort.ask(m.AskCovariances(plan.columns, plan.labels))), own]
    return SentStatistics([reduce(add, statistics)] if plan.combine == "pooled" else statistics)


def judge(plan: FedCMFSPlan, sites: Sites, tests: Tests) -> Talk[Verdicts]:
    """The mean of the sites' p-values and of their correlations' sizes, weighted by their rows.

    A site that cannot tell, having too few rows or a constant among the pair, is left out of the p-value.
    """
    n_given = tests.given.shape[1]
    n_tests = len(tests.first)
    chance, able, size, total = np.zeros(n_tests), np.zeros(n_tests), np.zeros(n_tests), 0
    for n_rows, correlation in (yield from sites.correlations(tests)):
        known = ~np.isnan(correlation)
        correlation = np.where(known, correlation, 0.0)
        size += n_rows * np.abs(correlation)
        total += n_rows
        if n_rows - n_given - 3 > 0:
            chance += n_rows * np.where(known, chance_of(correlation, n_rows, n_given), 0.0)
            able += n_rows * known
    p = np.divide(chance, able, out=np.full(n_tests, np.nan), where=able > 0)
    alpha = plan.level(total)
    return Verdicts(p <= alpha, p > alpha, size / total)  # neither holds for NaN

"""The set-ups: which rows are learned from and judged, with how many neighbors and features, and what is averaged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.published_search.judging import (
    ALWAYS,
    OTHERS,
    USUAL,
    K,
    Own,
    label_scores,
    mean_of,
    metrics_of,
    scores_by_k,
)
from fedsieve.arrays import Float, Int
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER
from fedsieve.experiments.selection import RowShares

OVERLAPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
NEIGHBORS = (1, 3, 5, 7, 10, 12, 15, 20, 25, 30)
N_COUNTS = 15  # numbers of features that the best is taken of
FIRST = 50  # GRMFS's driver averages over 1 to 50 features


@dataclass(frozen=True, eq=False)
class Case:
    """A dataset whose rows are dealt out, its features ranked best first, and how many of them are taken."""

    table: Float
    Y: Int
    rows: RowShares
    order: Int
    k: int
    seed: int

    def selected(self, n_features: int | None = None) -> Float:
        """The columns of the first features, `k` of them if not said otherwise."""
        return self.table[:, np.sort(self.order[: n_features or self.k])]

    def judged(self, taught: Int, judged: Int, own: Own = USUAL, n_features: int | None = None) -> dict[str, float]:
        """Metrics on some rows after learning from others."""
        return metrics_of(self.Y[judged], label_scores(self.selected(n_features), self.Y, taught, judged, own))


class SetUp(NamedTuple):
    """How a case is judged, and by which split; some make no sense where all features are taken."""

    judge: Callable[[Case], dict[str, float]]
    split: str = "70/30"
    all_features: bool = True


def usual(case: Case) -> dict[str, float]:
    """As in tables II to IV."""
    return case.judged(case.rows.train, case.rows.test)


def servers_labels(case: Case) -> dict[str, float]:
    """Learned from the server's rows alone."""
    return case.judged(case.rows.server, case.rows.test)


def training_rows(case: Case, own: Own) -> dict[str, float]:
    """Judged on the rows learned from."""
    return case.judged(case.rows.train, case.rows.train, own)


def own_in_learning(case: Case) -> dict[str, float]:
    """Test rows are new, but a training row was its own neighbor when counts were learned."""
    return case.judged(case.rows.train, case.rows.test, ALWAYS)


def test_rows_among_all(case: Case) -> dict[str, float]:
    """Learned from all rows; each test row is judged by the others."""
    return case.judged(np.arange(len(case.Y)), case.rows.test, OTHERS)


def test_rows_alone(case: Case) -> dict[str, float]:
    """Learned from the test rows; each is judged by the others."""
    return case.judged(case.rows.test, case.rows.test, OTHERS)


def all_rows(case: Case) -> dict[str, float]:
    """Learned from all rows; each of them is judged by the others."""
    everything = np.arange(len(case.Y))
    return case.judged(everything, everything, OTHERS)


def overlap(case: Case, share: float) -> dict[str, float]:
    """So many of the test rows are learned from, too, and are their own neighbors."""
    known = np.random.default_rng([case.seed, 3]).permutation(case.rows.test)[: round(share * len(case.rows.test))]
    return case.judged(np.sort(np.concatenate([case.rows.train, known])), case.rows.test)


def clients_models(case: Case) -> dict[str, float]:
    """Each client learns from its own rows and labels; the mean over clients of the metrics on the test rows."""
    return mean_of([case.judged(rows, case.rows.test) for rows in _able(case)])


def clients_rows(case: Case) -> dict[str, float]:
    """Each client judges each of its rows by its others; the mean over clients."""
    return mean_of([case.judged(rows, rows, OTHERS) for rows in _able(case)])


def best_neighbors(case: Case) -> dict[str, float]:
    """The best k of ML-kNN, of each metric by itself, by the test labels."""
    train, test = case.rows.train, case.rows.test
    several = scores_by_k(case.selected(), case.Y, train, test, NEIGHBORS)
    return _best(metrics_of(case.Y[test], scores) for scores in several)


def best_count(case: Case) -> dict[str, float]:
    """The best number of features, of each metric by itself, by the test labels."""
    counts = {round(count) for count in np.linspace(1, len(case.order), N_COUNTS)} | {case.k}
    return _best(case.judged(case.rows.train, case.rows.test, n_features=count) for count in sorted(counts))


def mean_of_counts(case: Case) -> dict[str, float]:
    """The mean over 1 to 50 features."""
    counts = range(1, min(FIRST, len(case.order)) + 1)
    return mean_of([case.judged(case.rows.train, case.rows.test, n_features=count) for count in counts])


def _able(case: Case) -> Iterator[Int]:
    """The rows of the clients that have more than k."""
    return (rows for rows in case.rows.clients if len(rows) > K)


def _best(several: Iterator[dict[str, float]]) -> dict[str, float]:
    found = list(several)
    return {name: (max if higher else min)(one[name] for one in found) for name, higher in HIGHER_IS_BETTER.items()}


SETUPS: Mapping[str, SetUp] = {
    "70/30, as in our tables": SetUp(usual),
    "80/20": SetUp(usual, "80/20"),
    "official split": SetUp(usual, "official"),
    "70/30, server's labels only": SetUp(servers_labels),
    "training rows, own neighbor": SetUp(partial(training_rows, own=USUAL)),
    "training rows, own neighbor in learning too": SetUp(partial(training_rows, own=ALWAYS)),
    "training rows, leave-one-out": SetUp(partial(training_rows, own=OTHERS)),
    "test rows, own neighbor in learning only": SetUp(own_in_learning),
    "test rows, leave-one-out among all rows": SetUp(test_rows_among_all),
    "test rows, leave-one-out among themselves": SetUp(test_rows_alone),
    "all rows, leave-one-out, selected on all rows": SetUp(all_rows, "all rows"),
    **{f"{share:.0%} of the test rows are training rows": SetUp(partial(overlap, share=share)) for share in OVERLAPS},
    "a classifier per client, test rows": SetUp(clients_models),
    "a classifier per client, its rows, leave-one-out": SetUp(clients_rows),
    "best k of ML-kNN": SetUp(best_neighbors),
    "best number of features": SetUp(best_count, all_features=False),
    "mean over 1 to 50 features": SetUp(mean_of_counts, all_features=False),
}


def with_all_features(case: Case) -> Case:
    """The same rows, nothing selected."""
    return replace(case, k=case.table.shape[1])

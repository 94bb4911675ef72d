"""Records to numbers for a table: means over seeds, differences between methods, and whether they mean anything."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy import stats

from fedsieve.arrays import Float
from fedsieve.errors import extra_needed
from fedsieve.experiments.config import Contender, Experiment, Point
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, MEASURES, Evaluation
from fedsieve.experiments.records import Record

VERDICTS = ("better than", "no different from", "worse than")


class Cell(NamedTuple):
    """Where a number stands."""

    dataset: str
    contender: Contender
    evaluation: Evaluation
    point: Point
    metric: str


@dataclass(frozen=True)
class Number:
    """Mean and deviation over seeds, and the values they come from, by seed."""

    mean: float
    deviation: float
    by_seed: dict[int, float]

    def __str__(self) -> str:
        digits = 2 if abs(self.mean) >= 10 else 4
        return f"{self.mean:.{digits}f} ± {self.deviation:.{digits}f}"


Numbers = dict[Cell, Number]


def summarize(experiment: Experiment, records: dict[str, Record]) -> Numbers:
    """All cells of which at least one trial is recorded."""
    values: dict[Cell, dict[int, float]] = defaultdict(dict)
    for contender in experiment.contenders:
        for point in experiment.points:
            for trial in experiment.trials(contender, point):
                measured = records.get(trial.key(), {}).get("metrics", {})
                for evaluation in experiment.evaluations:
                    for metric, value in measured.get(evaluation.name, {}).items():
                        values[Cell(trial.dataset, contender, evaluation, point, metric)][trial.seed] = value
    return {cell: _number(by_seed) for cell, by_seed in values.items()}


def _number(by_seed: dict[int, float]) -> Number:
    numbers = list(by_seed.values())
    return Number(fmean(numbers), stdev(numbers) if len(numbers) > 1 else 0.0, by_seed)


@dataclass(frozen=True)
class Gain:
    """By how much one method is better than another over the seeds they share: the mean and its standard error."""

    mean: float
    error: float

    @property
    def verdict(self) -> str:
        """One of VERDICTS: a difference counts when it is larger than its standard error."""
        better, alike, worse = VERDICTS
        return alike if not abs(self.mean) > self.error else better if self.mean > 0 else worse


def gain(ours: Number, theirs: Number, metric: str) -> Gain:
    """How much better ours is; with fewer than two shared seeds there is no error, and no verdict."""
    shared = sorted(set(ours.by_seed) & set(theirs.by_seed))
    if len(shared) < 2:
        return Gain(0.0, 0.0)
    sign = 1 if HIGHER_IS_BETTER[metric] else -1
    differences = sign * np.array([ours.by_seed[seed] - theirs.by_seed[seed] for seed in shared])
    return Gain(float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(shared))))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Ranks and p-values of several methods on several datasets for one metric."""

    titles: tuple[str, ...]
    average_ranks: Float  # 1 is best
    friedman_p: float
    nemenyi_p: Float  # (n_methods, n_methods)
    wilcoxon_p: dict[str, float]  # against the best by mean rank


def compare(titles: tuple[str, ...], values: Float, metric: str) -> Comparison | None:
    """Compare methods from their means, (n_datasets, n_methods); `None` with fewer than three methods or datasets.

    Friedman's and Nemenyi's tests need three of each to say anything; Wilcoxon's p-value over five datasets is never
    below 1/16, so that it can only ever hint.
    """
    n_datasets, n_methods = values.shape
    if n_datasets < 3 or n_methods < 3:
        return None
    try:
        import scikit_posthocs
    except ImportError:
        raise extra_needed("comparing methods", "scikit-posthocs", "experiments") from None
    ranks = stats.rankdata(-values if HIGHER_IS_BETTER[metric] else values, axis=1)
    average = ranks.mean(axis=0)
    best = int(np.argmin(average))
    return Comparison(
        titles=titles,
        average_ranks=average,
        friedman_p=float(stats.friedmanchisquare(*values.T).pvalue),
        nemenyi_p=np.asarray(scikit_posthocs.posthoc_nemenyi_friedman(values)),
        wilcoxon_p={
            title: float(stats.wilcoxon(values[:, m], values[:, best]).pvalue)
            for m, title in enumerate(titles)
            if m != best and np.any(values[:, m] != values[:, best])
        },
    )


def compare_over_datasets(experiment: Experiment, numbers: Numbers, evaluation: Evaluation) -> dict[str, Comparison]:
    """Per metric, the tests over the datasets on which every method has a mean; empty where there are too few."""
    (point,) = experiment.points
    titles = tuple(contender.shown_title for contender in experiment.contenders)
    found = {}
    for metric in MEASURES:
        rows = []
        for dataset in experiment.datasets:
            cells = [Cell(dataset, contender, evaluation, point, metric) for contender in experiment.contenders]
            if all(cell in numbers for cell in cells):
                rows.append([numbers[cell].mean for cell in cells])
        comparison = compare(titles, np.array(rows).reshape(len(rows), len(titles)), metric)
        if comparison is not None:
            found[metric] = comparison
    return found

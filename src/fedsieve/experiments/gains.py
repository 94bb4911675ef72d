"""How much better than random features each method is, on one scale for all datasets, classifiers and metrics.

    G = (method - random) / (best other entry - random),    no larger than 2 and no smaller than -2,

of means over seeds, better being positive: 0 is random features, 1 the best entry besides ours, the one that is judged
and may have more. Only seeds count of which every method has a record.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
from scipy import stats

from fedsieve.arrays import Float, Int
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, MEASURES
from fedsieve.experiments.records import Record

MOST = 2.0
SIGNS = np.array([1.0 if HIGHER_IS_BETTER[metric] else -1.0 for metric in MEASURES])


@dataclass(frozen=True)
class Estimate:
    """A mean and its standard error, which is NaN where there is one seed."""

    mean: float
    error: float


@dataclass(frozen=True, eq=False)
class GainsOnDataset:
    """One dataset and classifier."""

    seeds: tuple[int, ...]
    values: Float  # (n_methods, n_seeds, n_shares, n_metrics), more is better
    random: int  # which of the methods
    ours: int

    def gains(self, method: int, share: int | None, left_out: int | None = None) -> float:
        """The mean of G over metrics, of one share of the selected features or, `None`, of the mean over all.

        Of all seeds, or without one of them.
        """
        seeds = [place for place, seed in enumerate(self.seeds) if seed != left_out]
        means = self.values[:, seeds].mean(axis=1)
        means = means.mean(axis=1) if share is None else means[:, share]
        above = means - means[self.random]
        best = np.delete(above, self.ours, axis=0).max(axis=0)
        useful = best > 0
        if not useful.any():
            return nan
        return float(np.clip(above[method, useful] / best[useful], -MOST, MOST).mean())

    def below_random(self, method: int) -> tuple[int, int]:
        """In how many cells (shares times metrics) it is below random by more than a standard error; of how many."""
        if len(self.seeds) < 2:
            return 0, 0
        difference = self.values[method] - self.values[self.random]
        error = difference.std(axis=0, ddof=1) / sqrt(len(self.seeds))
        below = difference.mean(axis=0) < -error
        return int(below.sum()), below.size

    def ranks(self, share: int) -> Float:
        """The rank of each method by its mean, 1 is best, (n_methods, n_metrics)."""
        means = self.values[:, :, share].mean(axis=1)
        return np.asarray(stats.rankdata(np.round(-means, 12), axis=0))


class Gains:
    """All that the records of an experiment have, by dataset and classifier."""

    def __init__(self, experiment: Experiment, records: dict[str, Record], random: Contender, ours: Contender) -> None:
        self.methods = experiment.contenders
        places = self.methods.index(random), self.methods.index(ours)
        self.classifiers = tuple(dict.fromkeys(evaluation.classifier for evaluation in experiment.evaluations))
        self.shares = tuple(dict.fromkeys(evaluation.share for evaluation in experiment.evaluations))
        self.of: dict[tuple[str, str], GainsOnDataset] = {}
        values = _by_seed(experiment, records)
        for dataset in experiment.datasets:
            for classifier in self.classifiers:
                names = [e.name for e in experiment.evaluations if e.classifier == classifier]
                found = values[dataset]
                seeds = tuple(
                    s for s in experiment.seeds if all(set(names) <= of_method[s].keys() for of_method in found)
                )
                if seeds:
                    table = np.array([[[of_method[s][n] for n in names] for s in seeds] for of_method in found])
                    self.of[dataset, classifier] = GainsOnDataset(seeds, table * SIGNS, *places)

    def datasets(self, classifier: str) -> list[str]:
        """Those of which there is something."""
        return [dataset for dataset, other in self.of if other == classifier]

    def mean(
        self, method: Contender, classifiers: Sequence[str], share: int | None = None, without: Sequence[str] = ()
    ) -> Estimate:
        """G over datasets and classifiers.

        The error is the jackknife's over seeds: one is left out for all classifiers of a dataset at once, which see the
        same splits. Datasets are independent of each other.
        """
        number, known = self.methods.index(method), defaultdict[str, list[GainsOnDataset]](list)
        for (dataset, classifier), measured in self.of.items():
            if classifier in classifiers and dataset not in without and not isnan(measured.gains(number, share)):
                known[dataset].append(measured)
        n = sum(map(len, known.values()))
        if not n:
            return Estimate(nan, nan)
        whole = sum(measured.gains(number, share) for parts in known.values() for measured in parts)
        variance = sum(_variance(parts, number, share) for parts in known.values())
        return Estimate(whole / n, sqrt(variance) / n)

    def on(self, dataset: str, method: Contender, classifiers: Sequence[str]) -> float:
        """G on one dataset, the mean over classifiers; NaN where one of them is missing."""
        number = self.methods.index(method)
        parts = [self.of.get((dataset, classifier)) for classifier in classifiers]
        return float(np.mean([nan if part is None else part.gains(number, None) for part in parts]))

    def mean_ranks(self, classifier: str, share: int) -> Float:
        """Over datasets and metrics, per method."""
        ranks = [measured.ranks(share) for (_, other), measured in self.of.items() if other == classifier]
        return np.asarray(np.hstack(ranks).mean(axis=1))

    def below_random(self, method: Contender, without: Sequence[str] = ()) -> tuple[int, int]:
        """Cells below random features by more than one standard error, of all that have one."""
        number = self.methods.index(method)
        found: Int = np.array([m.below_random(number) for (d, _), m in self.of.items() if d not in without])
        below, cells = found.reshape(-1, 2).sum(axis=0)
        return int(below), int(cells)


def _variance(parts: Sequence[GainsOnDataset], method: int, share: int | None) -> float:
    """That of the sum of G over classifiers of one dataset; NaN where one of them has one seed."""
    seeds = sorted({seed for measured in parts for seed in measured.seeds})
    if any(len(measured.seeds) < 2 for measured in parts):
        return nan
    without = np.array([sum(measured.gains(method, share, seed) for measured in parts) for seed in seeds])
    return float((len(seeds) - 1) / len(seeds) * ((without - without.mean()) ** 2).sum())


def _by_seed(experiment: Experiment, records: dict[str, Record]) -> dict[str, list[dict[int, dict[str, list[float]]]]]:
    """Per dataset and method, by seed, the metrics of each evaluation by its name."""
    found: dict[str, list[dict[int, dict[str, list[float]]]]] = defaultdict(list)
    for contender in experiment.contenders:
        by_dataset: dict[str, dict[int, dict[str, list[float]]]] = defaultdict(dict)
        for trial in experiment.trials(contender):
            metrics = records.get(trial.key(), {}).get("metrics", {})
            by_dataset[trial.dataset][trial.seed] = {
                name: [values[metric] for metric in MEASURES] for name, values in metrics.items()
            }
        for dataset in experiment.datasets:
            found[dataset].append(by_dataset[dataset])
    return found

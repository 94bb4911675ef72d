"""Records to numbers for a table: mean and deviation over seeds, per dataset, method, scaling and labeled share."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from fedsieve.experiments.config import Experiment
from fedsieve.experiments.records import Record


class Cell(NamedTuple):
    """Where a number stands."""

    dataset: str
    title: str
    scaling: str
    labeled: float
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


def summarize(experiment: Experiment, records: dict[str, Record]) -> dict[Cell, Number]:
    """All cells of which at least one run is recorded."""
    values: dict[Cell, dict[int, float]] = defaultdict(dict)
    for method in experiment.methods:
        for run in experiment.runs(method):
            record = records.get(run.key())
            if record is None:
                continue
            for scaling, measured in record["metrics"].items():
                for metric, value in measured.items():
                    cell = Cell(run.dataset, method.title, scaling, run.labeled, metric)
                    values[cell][run.seed] = value
    return {cell: _number(by_seed) for cell, by_seed in values.items()}


def _number(by_seed: dict[int, float]) -> Number:
    numbers = list(by_seed.values())
    return Number(fmean(numbers), stdev(numbers) if len(numbers) > 1 else 0.0, by_seed)

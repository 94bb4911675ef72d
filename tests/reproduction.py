"""The page about the reproduction as one line of text, and the committed records it quotes."""

from functools import cache
from itertools import chain
from pathlib import Path

from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.experiment_file import read_experiment
from fedsieve.experiments.records import Record, Records
from fedsieve.experiments.sensitivity import Variant, random_beside, variants
from fedsieve.experiments.summary import Cell, Gain, Numbers, gain, summarize
from fedsieve.report.metric_tables import MetricTables, published_values

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "benchmarks" / "paper"
PAGE = " ".join((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").split())
AP = "average_precision"


@cache
def records() -> dict[str, Record]:
    return Records(PAPER / "results" / "records.jsonl").read()


@cache
def recorded(name: str) -> tuple[Experiment, Numbers]:
    experiment = read_experiment(PAPER / f"{name}.toml")
    return experiment, summarize(experiment, records())


@cache
def tables() -> MetricTables:
    return MetricTables(*recorded("tables_2_3_4"), published_values(PAPER / "published"))


def row_of(title: str) -> Contender:
    return next(row for row in tables().experiment.contenders if row.title == title)


def means(title: str, metric: str = AP) -> list[tuple[float, float]]:
    """Per dataset: scaled, raw."""
    experiment, numbers = recorded("tables_2_3_4")
    (point,) = experiment.points
    row = row_of(title)
    found = [[Cell(d, row, e, point, metric) for e in experiment.evaluations] for d in experiment.datasets]
    return [(numbers[scaled].mean, numbers[raw].mean) for scaled, raw in found]


def settings(name: str) -> dict[Contender, Variant]:
    """Of an experiment of kind "sensitivity", every row of the method, by the first words that it has."""
    found: dict[Contender, Variant] = {}
    for variant in chain.from_iterable(variants(recorded(name)[0]).values()):
        found.setdefault(variant.contender, variant)
    return found


def lead(name: str, row: Contender, dataset: str) -> Gain:
    """Over as many random features, in AP."""
    experiment, numbers = recorded(name)
    (point,), evaluation = experiment.points, experiment.evaluations[0]
    ours, random = (numbers[Cell(dataset, r, evaluation, point, AP)] for r in (row, random_beside(experiment, row)))
    return gain(ours, random, AP)

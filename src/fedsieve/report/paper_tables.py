"""The paper's tables in Markdown: our numbers beside the published ones, and in words where they differ."""

import csv
from collections.abc import Iterator
from pathlib import Path

from fedsieve.catalog import registry
from fedsieve.experiments.config import Experiment
from fedsieve.experiments.significance import HIGHER_IS_BETTER
from fedsieve.experiments.summary import Cell, Number
from fedsieve.report.comparison import VERDICTS, compare_by_seed
from fedsieve.report.published_relations import relations_text
from fedsieve.report.titles import shown_title

PUBLISHED = {
    "average_precision": "table2_average_precision.csv",
    "coverage": "table3_coverage.csv",
    "ranking_loss": "table4_ranking_loss.csv",
}
FEDERATED = "table7_yeast_federated.csv"
NOT_IDENTIFIED = ("MFSDNA",)  # of the paper's methods: no source says what it is
TITLES = {"average_precision": "Average precision ↑", "coverage": "Coverage ↓", "ranking_loss": "Ranking loss ↓"}


def published_values(folder: Path) -> dict[tuple[str, str, str], float]:
    """The published tables as (metric, method, dataset) -> value."""
    values = {}
    for metric, name in PUBLISHED.items():
        with (folder / name).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                method = row.pop("method")
                values.update({(metric, method, dataset): float(text) for dataset, text in row.items()})
    if (folder / FEDERATED).exists():
        with (folder / FEDERATED).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                method = row.pop("method")
                values.update({(metric, method, "yeast"): float(text) for metric, text in row.items()})
    return values


def metric_tables(
    experiment: Experiment, numbers: dict[Cell, Number], published: dict[tuple[str, str, str], float]
) -> str:
    """All tables of an experiment of kind "metrics", one per metric and scaling, and the remarks."""
    (labeled,) = experiment.labeled
    n_seeds = max((len(number.by_seed) for number in numbers.values()), default=0)
    lines = [
        f"# {experiment.title}",
        "",
        f"Ours: mean ± deviation over {n_seeds} seeds. 'labels' is the share of the training labels that the "
        "selection saw. Published values in brackets, where the paper has them.",
    ]
    for metric, title in TITLES.items():
        for scaling in experiment.scalings:
            lines += ["", f"## {title}, {scaling} features", ""]
            lines += _table(experiment, numbers, published, metric, scaling, labeled)
    remarks = [
        *_against_random(experiment, numbers, labeled),
        *_against_published(experiment, numbers, published, labeled),
    ]
    relations = relations_text(experiment, numbers, published, labeled)
    return "\n".join([*lines, "", "## In words", "", *(f"- {remark}" for remark in remarks), relations, ""])


def _table(
    experiment: Experiment,
    numbers: dict[Cell, Number],
    published: dict[tuple[str, str, str], float],
    metric: str,
    scaling: str,
    labeled: float,
) -> Iterator[str]:
    yield "| method | labels | " + " | ".join(experiment.datasets) + " |"
    yield "|---|---|" + "---|" * len(experiment.datasets)
    for method in experiment.methods:
        cells = []
        for dataset in experiment.datasets:
            number = numbers.get(Cell(dataset, method.title, scaling, labeled, metric))
            theirs = published.get((metric, method.title, dataset))  # a variant has no published value
            ours = "-" if number is None else str(number)
            cells.append(ours if theirs is None else f"{ours} [{theirs:g}]")
        yield f"| {shown_title(method)} | {_seen(method.name, labeled)} | " + " | ".join(cells) + " |"
    entries = [registry().get(method.name) for method in experiment.methods]
    among = any(entry and entry.supervision == "supervised" and not entry.federated for entry in entries)
    for name in NOT_IDENTIFIED if among else ():  # the paper lists them with the supervised methods in one place
        theirs_only = [published.get((metric, name, dataset)) for dataset in experiment.datasets]
        if any(value is not None for value in theirs_only):
            shown = ("-" if value is None else f"- [{value:g}]" for value in theirs_only)
            yield f"| {name} (not identified) | - | " + " | ".join(shown) + " |"


def _seen(method: str, labeled: float) -> str:
    """The share of labels that a method is given; "-" for one that is not implemented."""
    entry = registry().get(method)
    shares = {"supervised": "100%", "semi-supervised": f"{labeled:.0%}", "none": "0%"}
    return "-" if entry is None else shares[entry.supervision]


def _against_random(experiment: Experiment, numbers: dict[Cell, Number], labeled: float) -> Iterator[str]:
    """Whether each method beats random features by more than one standard error of the difference, per seed."""
    for method in experiment.methods:
        if method.name in ("random", "all features"):
            continue
        for scaling in experiment.scalings:
            verdicts: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
            for metric in TITLES:
                for dataset in experiment.datasets:
                    ours = numbers.get(Cell(dataset, method.title, scaling, labeled, metric))
                    chance = numbers.get(Cell(dataset, "random", scaling, labeled, metric))
                    if ours is not None and chance is not None:
                        verdicts[compare_by_seed(ours, chance, metric)].append(f"{dataset} {metric.replace('_', ' ')}")
            parts = [f"{verdict} random features on {len(where)}" for verdict, where in verdicts.items() if where]
            worse = "; ".join(verdicts["worse than"])
            end = f" (worse: {worse})." if worse else "."
            n_comparisons = sum(map(len, verdicts.values()))
            yield f"{shown_title(method)}, {scaling}: {', '.join(parts)} of {n_comparisons} comparisons{end}"


def _against_published(
    experiment: Experiment, numbers: dict[Cell, Number], published: dict[tuple[str, str, str], float], labeled: float
) -> Iterator[str]:
    for method in experiment.methods:
        if method.title != method.name:
            continue  # a variant is not what was published
        for metric, title in TITLES.items():
            for dataset in experiment.datasets:
                theirs = published.get((metric, method.name, dataset))
                for scaling in experiment.scalings:
                    ours = numbers.get(Cell(dataset, method.title, scaling, labeled, metric))
                    if ours is None or theirs is None:
                        continue
                    gap = ours.mean - theirs
                    if abs(gap) > 2 * ours.deviation:
                        side = "better" if (gap > 0) == HIGHER_IS_BETTER[metric] else "worse"
                        yield (
                            f"{shown_title(method)}, {dataset}, {scaling}, {title[:-2].lower()}: ours {ours} is {side} "
                            f"than the published {theirs:g} by {abs(gap):.4g}."
                        )

"""Sensitivity: how much a method's result depends on each factor, beside random features and all features."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.sensitivity import Variant, in_words, random_beside, variants
from fedsieve.experiments.summary import VERDICTS, Cell, Number, Numbers, gain
from fedsieve.report.pictures import new_figure, save

AP = "average_precision"
EVERYTHING = "all features"
MARKS = dict(zip(VERDICTS, (" +", "", " -"), strict=True))


def sensitivity_page(experiment: Experiment, numbers: Numbers, figures: list[str]) -> str:
    """The text of an experiment of kind "sensitivity", with its figures on top."""
    if not numbers:
        raise ParameterError(f"{experiment.name}: no run of it is recorded; run without --report-only.")
    seeds = ", ".join(map(str, experiment.seeds))
    lines = [
        f"# {experiment.title}",
        "",
        *(f"![{name}]({name})" for name in figures),
        "",
        f"{experiment.contenders[0].title} with one factor at a time unlike the default; seeds {seeds}. Average "
        "precision, mean ± deviation over seeds; + and - where it is better or worse than as many random features by "
        "more than one standard error of the difference over seeds. In the figures, bands are one deviation around "
        "random features and all features.",
        "",
    ]
    for evaluation in experiment.evaluations:
        table = _Table(experiment, numbers, evaluation)
        shown = experiment.shown(evaluation)
        lines += [f"## Which settings do best, {shown} features", "", *table.best(), ""]
        for name, rows in variants(experiment).items():
            lines += [f"## {name}, {shown} features", "", *table.of_factor(rows), ""]
    return "\n".join(lines)


def draw_sensitivity(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, path: Path) -> None:
    """Average precision against the values of each factor (rows), one column per dataset."""
    rows = {name: found for name, found in variants(experiment).items() if len(found[0].values) == 1}
    figure = new_figure("drawing figures", (3 * len(experiment.datasets), 2.2 * len(rows)))
    panels = figure.subplots(len(rows), len(experiment.datasets), squeeze=False)
    table = _Table(experiment, numbers, evaluation)
    for row, (name, found) in zip(panels, rows.items(), strict=True):
        for axes, dataset in zip(row, experiment.datasets, strict=True):
            ours = [table.number(dataset, variant.contender) for variant in found]
            _band(axes, [table.number(dataset, random_beside(experiment, v.contender)) for v in found], RANDOM_COLOR)
            _band(axes, [table.number(dataset, experiment.contender(EVERYTHING))] * len(found), ALL_COLOR)
            known = [(place, number) for place, number in enumerate(ours) if number is not None]
            means, deviations = ([getattr(n, what) for _, n in known] for what in ("mean", "deviation"))
            axes.errorbar([place for place, _ in known], means, deviations, capsize=2, marker="o", markersize=3)
            axes.set_xticks(range(len(found)), [in_words(variant.values[0][1]) for variant in found], fontsize=7)
            axes.set_title(dataset if row is panels[0] else "", fontsize=10)
        row[0].set_ylabel(name)
    figure.suptitle(f"{experiment.title}: average precision (orange: random features, green: all)")
    save(figure, path, dpi=100)


RANDOM_COLOR, ALL_COLOR = "tab:orange", "tab:green"


def _band(axes: Any, numbers: list[Number | None], color: str) -> None:
    known = [(place, number) for place, number in enumerate(numbers) if number is not None]
    where = [place for place, _ in known]
    axes.plot(where, [number.mean for _, number in known], color=color, linewidth=1)
    low, high = ([n.mean + side * n.deviation for _, n in known] for side in (-1, 1))
    axes.fill_between(where, low, high, color=color, alpha=0.2, linewidth=0)


class _Table:
    """The numbers of one evaluation."""

    def __init__(self, experiment: Experiment, numbers: Numbers, evaluation: Evaluation) -> None:
        self.experiment, self._numbers, self._evaluation = experiment, numbers, evaluation
        (self._point,) = experiment.points

    def number(self, dataset: str, row: Contender | None) -> Number | None:
        """Of one row on one dataset, where it is recorded."""
        return None if row is None else self._numbers.get(Cell(dataset, row, self._evaluation, self._point, AP))

    def of_factor(self, rows: list[Variant]) -> Iterator[str]:
        """A line per dataset, a column per value; random features beside each where their number is varied."""
        several = any(row.contender.k_share is not None for row in rows)
        yield "| dataset | " + " | ".join(row.words for row in rows) + " | random | all features |"
        yield "|---|" + "---|" * (len(rows) + 2)
        for dataset in self.experiment.datasets:
            cells = [self._marked(dataset, row.contender) for row in rows]
            random = [self.number(dataset, random_beside(self.experiment, row.contender)) for row in rows]
            beside = ", ".join(_short(number) for number in random) if several else _short(random[0])
            yield f"| {dataset} | {' | '.join(cells)} | {beside} | {_short(self._everything(dataset))} |"

    def best(self) -> Iterator[str]:
        """All settings by their mean lead over random features, over the datasets on which all are recorded."""
        found = variants(self.experiment)
        rows = {self.experiment.contenders[0]: "the default"}
        for row in (row for of_factor in found.values() for row in of_factor):
            rows.setdefault(row.contender, row.words)
        leads = {row: self._leads(row) for row in rows}
        complete = {row: lead for row, lead in leads.items() if len(lead) == len(self.experiment.datasets)}
        yield "| setting | mean lead over random | " + " | ".join(self.experiment.datasets) + " |"
        yield "|---|---|" + "---|" * len(self.experiment.datasets)
        for setting in sorted(complete, key=lambda row: -fmean(complete[row].values())):
            lead = complete[setting]
            cells = [f"{lead[dataset]:+.4f}{self._mark(dataset, setting)}" for dataset in self.experiment.datasets]
            yield f"| {rows[setting]} | {fmean(lead.values()):+.4f} | {' | '.join(cells)} |"
        if len(complete) < len(rows):
            yield ""
            yield f"{len(rows) - len(complete)} of {len(rows)} settings are not recorded on all datasets yet."

    def _leads(self, row: Contender) -> dict[str, float]:
        leads = {}
        for dataset in self.experiment.datasets:
            ours, random = self.number(dataset, row), self.number(dataset, random_beside(self.experiment, row))
            if ours is not None and random is not None:
                leads[dataset] = gain(ours, random, AP).mean
        return leads

    def _mark(self, dataset: str, row: Contender) -> str:
        ours, random = self.number(dataset, row), self.number(dataset, random_beside(self.experiment, row))
        return "" if ours is None or random is None else MARKS[gain(ours, random, AP).verdict]

    def _marked(self, dataset: str, row: Contender) -> str:
        number = self.number(dataset, row)
        return "-" if number is None else f"{number}{self._mark(dataset, row)}"

    def _everything(self, dataset: str) -> Number | None:
        return self.number(dataset, self.experiment.contender(EVERYTHING))


def _short(number: Number | None) -> str:
    return "-" if number is None else f"{number.mean:.4f}"

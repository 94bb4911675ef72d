"""Sensitivity: how much a method's result depends on each factor, beside random features and all features."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsieve.catalog import ALL_FEATURES
from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.sensitivity import Variant, in_words, random_beside, variants
from fedsieve.experiments.summary import VERDICTS, Cell, Gain, Number, Numbers, gain
from fedsieve.report.markdown_table import markdown_table
from fedsieve.report.pictures import new_figure, save

AP = "average_precision"
MARKS = dict(zip(VERDICTS, (" +", "", " -"), strict=True))


def sensitivity_page(experiment: Experiment, numbers: Numbers, figures: list[str]) -> str:
    """The text of an experiment of kind "sensitivity", with its figures on top."""
    if not numbers:
        raise ParameterError(f"{experiment.name}: no run of it is recorded; run without --report-only.")
    seeds = ", ".join(map(str, experiment.seeds))
    crossings = ", then some of them crossed" if experiment.crossed else ""
    lines = [
        f"# {experiment.title}",
        "",
        *(f"![{name}]({name})" for name in figures),
        "",
        f"{experiment.contenders[0].title} with one factor at a time unlike the default{crossings}; seeds {seeds}. "
        "Average precision, mean ± deviation over seeds; + and - where it is better or worse than as many random "
        "features by more than one standard error of the difference over seeds. In the figures, bands are one "
        "deviation around random features and all features.",
        "",
    ]
    for evaluation in experiment.evaluations:
        table = _Table(experiment, numbers, evaluation)
        shown = experiment.shown(evaluation)
        lines += [f"## Better than random? {shown} features", "", *table.against_random(), ""]
        lines += [f"## Which settings do best, {shown} features", "", *table.best(), ""]
        for name, rows in variants(experiment).items():
            lines += [f"## {name}, {shown} features", "", *table.of_factor(rows), ""]
    return "\n".join(lines)


def draw_sensitivity(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, path: Path) -> None:
    """Average precision against the values of each factor (rows), one column per dataset.

    A crossing is drawn against its first factor, with a line for each combination of the others.
    """
    rows = variants(experiment)
    figure = new_figure("drawing figures", (3 * len(experiment.datasets), 2.2 * len(rows)))
    panels = figure.subplots(len(rows), len(experiment.datasets), squeeze=False).tolist()
    table = _Table(experiment, numbers, evaluation)
    for row, found in zip(panels, rows.values(), strict=True):
        lines = _lines(found)
        first = next(iter(lines.values()))
        for axes, dataset in zip(row, experiment.datasets, strict=True):
            _band(axes, [table.number(dataset, random_beside(experiment, v.contender)) for v in first], RANDOM_COLOR)
            _band(axes, [table.number(dataset, experiment.contender(ALL_FEATURES))] * len(first), ALL_COLOR)
            for label, of_line in lines.items():
                ours = [table.number(dataset, variant.contender) for variant in of_line]
                known = [(place, number) for place, number in enumerate(ours) if number is not None]
                means, deviations = ([getattr(n, what) for _, n in known] for what in ("mean", "deviation"))
                axes.errorbar(
                    [place for place, _ in known],
                    means,
                    deviations if len(lines) == 1 else None,  # of several lines they would hide each other
                    capsize=2,
                    marker="o",
                    markersize=3,
                    label=label,
                )
            axes.set_xticks(range(len(first)), [in_words(variant.values[0][1]) for variant in first], fontsize=7)
            axes.margins(x=0.1)  # room for words as values
            axes.set_title(dataset if row is panels[0] else "", fontsize=10)
        row[0].set_ylabel(found[0].values[0][0])
        if len(lines) > 1:
            row[-1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(f"{experiment.title}: average precision (orange: random features, green: all)")
    save(figure, path, dpi=100)


def _lines(rows: list[Variant]) -> dict[str, list[Variant]]:
    """The rows of a factor or crossing by the values of all factors but the first."""
    lines: dict[str, list[Variant]] = {}
    for row in rows:
        lines.setdefault(", ".join(in_words(value) for _, value in row.values[1:]), []).append(row)
    return lines


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

    def of_factor(self, rows: list[Variant]) -> list[str]:
        """A line per dataset, a column per value; random features beside each where their number is varied."""
        several = any(row.contender.k_share is not None for row in rows)
        lines = []
        for dataset in self.experiment.datasets:
            cells = [self._marked(dataset, row.contender) for row in rows]
            random = [self.number(dataset, random_beside(self.experiment, row.contender)) for row in rows]
            beside = ", ".join(_short(number) for number in random) if several else _short(random[0])
            lines.append([dataset, *cells, beside, _short(self._everything(dataset))])
        return markdown_table(["dataset", *(row.words for row in rows), "random", "all features"], lines)

    def against_random(self) -> Iterator[str]:
        """Per dataset, in how many settings as many random features are beaten, and by which setting the most."""
        settings, rows = self._settings(), []
        for dataset in self.experiment.datasets:
            gains = {words: found for row, words in settings.items() if (found := self._gain(dataset, row))}
            counts = [sum(found.verdict == verdict for found in gains.values()) for verdict in VERDICTS]
            ends = [choose(gains, key=lambda words: gains[words].mean) for choose in (max, min)] if gains else []
            told = [f"{words}: {gains[words].mean:+.4f} ± {gains[words].error:.4f}" for words in ends] or ["-", "-"]
            rows.append([dataset, *map(str, (len(gains), *counts)), *told])
        titles = ["dataset", "settings", "better than random", "no different", "worse", "best", "worst"]
        yield from markdown_table(titles, rows)
        yield ""
        yield "± is one standard error of the mean lead. The best of so many is partly luck: other seeds judge it."

    def best(self) -> Iterator[str]:
        """All settings by their mean lead over random features, over the datasets on which all are recorded."""
        settings, datasets = self._settings(), self.experiment.datasets
        gains = {row: [self._gain(dataset, row) for dataset in datasets] for row in settings}
        complete = {row: [g for g in found if g is not None] for row, found in gains.items() if None not in found}
        rows = []
        for row, found in sorted(complete.items(), key=lambda item: -fmean(g.mean for g in item[1])):
            cells = [f"{g.mean:+.4f}{MARKS[g.verdict]}" for g in found]
            rows.append([settings[row], f"{fmean(g.mean for g in found):+.4f}", *cells])
        yield from markdown_table(["setting", "mean lead over random", *datasets], rows)
        if len(complete) < len(settings):
            yield ""
            yield f"{len(settings) - len(complete)} of {len(settings)} settings are not recorded on all datasets yet."

    def _settings(self) -> dict[Contender, str]:
        """All rows of the method, each once, in words."""
        settings = {self.experiment.contenders[0]: "the default"}
        for row in (row for of_factor in variants(self.experiment).values() for row in of_factor):
            settings.setdefault(row.contender, row.words)
        return settings

    def _gain(self, dataset: str, row: Contender) -> Gain | None:
        """Over as many random features, where both are recorded."""
        ours, random = self.number(dataset, row), self.number(dataset, random_beside(self.experiment, row))
        return None if ours is None or random is None else gain(ours, random, AP)

    def _marked(self, dataset: str, row: Contender) -> str:
        number, found = self.number(dataset, row), self._gain(dataset, row)
        return "-" if number is None else f"{number}{MARKS[found.verdict] if found else ''}"

    def _everything(self, dataset: str) -> Number | None:
        return self.number(dataset, self.experiment.contender(ALL_FEATURES))


def _short(number: Number | None) -> str:
    return "-" if number is None else f"{number.mean:.4f}"

"""Curves: the figure, the numbers behind it, and how often each method is best, as the paper concludes."""

from collections.abc import Iterator
from pathlib import Path

from fedsieve.catalog import registry
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, Evaluation
from fedsieve.experiments.summary import Cell, Numbers, gain
from fedsieve.report.markdown_table import markdown_table
from fedsieve.report.metric_tables import OURS, TITLES
from fedsieve.report.pictures import new_figure, save


def curve_tables(experiment: Experiment, numbers: Numbers, figures: list[str]) -> str:
    """The text of an experiment of kind "curves", with its figures on top."""
    lines = [f"# {experiment.title}", "", *(f"![{name}]({name})" for name in figures), ""]
    for evaluation in experiment.evaluations:
        shown = experiment.shown(evaluation)
        if sum(map(_competes, experiment.contenders)) > 1:
            lines += [f"## Who is best, {shown} features", "", *_wins(experiment, numbers, evaluation), ""]
        for metric in experiment.metrics:
            values = _values(experiment, numbers, evaluation, metric)
            lines += [f"## {TITLES[metric]}, {shown} features", "", *values, ""]
    return "\n".join(lines)


def draw_curves(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, path: Path) -> None:
    """Metrics (rows) against what is varied, one column per dataset, one line per method."""
    by_level = len(experiment.k_levels) > 1
    figure = new_figure("drawing figures", (3 * len(experiment.datasets), 2 + 2 * len(experiment.metrics)))
    panels = figure.subplots(len(experiment.metrics), len(experiment.datasets), squeeze=False).tolist()
    for row, metric in zip(panels, experiment.metrics, strict=True):
        for axes, dataset in zip(row, experiment.datasets, strict=True):
            for contender in experiment.contenders:
                cells = [Cell(dataset, contender, evaluation, point, metric) for point in experiment.points]
                known = [(cell.point, numbers[cell]) for cell in cells if cell in numbers]
                axes.errorbar(
                    [100 * (point.k_level if by_level else point.labeled) for point, _ in known],
                    [number.mean for _, number in known],
                    [number.deviation for _, number in known],
                    label=contender.shown_title,
                    capsize=2,
                    marker="o",
                    markersize=3,
                )
            axes.set_title(dataset if row is panels[0] else "", fontsize=10)
            varied = "selected features, % of k" if by_level else "labeled rows, %"
            axes.set_xlabel(varied if row is panels[-1] else "")
        row[0].set_ylabel(TITLES[metric])
    lines, names = panels[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=5, fontsize=9)
    figure.suptitle(experiment.title)
    save(figure, path, dpi=100)


def _values(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, metric: str) -> list[str]:
    by_level = len(experiment.k_levels) > 1
    shares = [point.k_level if by_level else point.labeled for point in experiment.points]
    rows = []
    for dataset in experiment.datasets:
        for contender in experiment.contenders:
            cells = [numbers.get(Cell(dataset, contender, evaluation, p, metric)) for p in experiment.points]
            rows.append([dataset, contender.shown_title, *("-" if cell is None else str(cell) for cell in cells)])
    return markdown_table(["dataset", "method", *(f"{share:.0%}" for share in shares)], rows)


def _wins(experiment: Experiment, numbers: Numbers, evaluation: Evaluation) -> Iterator[str]:
    """Per method: in how many cells its mean is the best, and in how many the paper's method is clearly better."""
    rivals = [contender for contender in experiment.contenders if _competes(contender)]
    paper_method = experiment.contender(OURS)
    cells = [(dataset, point) for dataset in experiment.datasets for point in experiment.points]
    share = "labeled share" if len(experiment.k_levels) == 1 else "number of features"
    yield f"Best mean among these in so many of {len(cells)} comparisons (dataset and {share}); in brackets, in"
    yield f"how many {OURS} is better than it by more than one standard error of the difference over seeds, and worse:"
    yield ""
    rows = []
    for rival in rivals:
        row = [rival.shown_title]
        for metric in experiment.metrics:
            best = better = worse = 0
            better_of = max if HIGHER_IS_BETTER[metric] else min
            for dataset, point in cells:
                known = {
                    other: numbers[cell]
                    for other in rivals
                    if (cell := Cell(dataset, other, evaluation, point, metric)) in numbers
                }
                if rival not in known or paper_method not in known:
                    continue
                best += known[rival].mean == better_of(number.mean for number in known.values())
                verdict = gain(known[paper_method], known[rival], metric).verdict
                better, worse = better + (verdict == "better than"), worse + (verdict == "worse than")
            row.append(f"{best}" if rival == paper_method else f"{best} ({better}, {worse})")
        rows.append(row)
    yield from markdown_table(["method", *(metric.replace("_", " ") for metric in experiment.metrics)], rows)


def _competes(contender: Contender) -> bool:
    """Neither a control nor a variant."""
    entry = registry().get(contender.name)
    return contender.title == contender.name and entry is not None and not entry.control

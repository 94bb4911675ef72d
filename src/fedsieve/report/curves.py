"""Curves: the figure, the numbers behind it, and how often each method is best, as the paper concludes."""

from collections.abc import Iterator
from pathlib import Path

from fedsieve.catalog import registry
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, Evaluation
from fedsieve.experiments.summary import Cell, Numbers, gain
from fedsieve.report.metric_tables import OURS, TITLES
from fedsieve.report.pictures import new_figure, save


def curve_tables(experiment: Experiment, numbers: Numbers, figures: list[str]) -> str:
    """The text of an experiment of kind "curves", with its figures on top."""
    lines = [f"# {experiment.title}", "", *(f"![{name}]({name})" for name in figures), ""]
    for evaluation in experiment.evaluations:
        shown = experiment.shown(evaluation)
        lines += [f"## Who is best, {shown} features", "", *_wins(experiment, numbers, evaluation), ""]
        for metric, title in TITLES.items():
            lines += [f"## {title}, {shown} features", "", *_values(experiment, numbers, evaluation, metric), ""]
    return "\n".join(lines)


def draw_curves(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, path: Path) -> None:
    """Metrics (rows) against what is varied, one column per dataset, one line per method."""
    by_level = len(experiment.k_levels) > 1
    figure = new_figure("drawing figures", (3 * len(experiment.datasets), 8))
    panels = figure.subplots(len(TITLES), len(experiment.datasets), squeeze=False)
    for row, (metric, title) in zip(panels, TITLES.items(), strict=True):
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
            axes.set_title(dataset if metric == "average_precision" else "", fontsize=10)
            varied = "selected features, % of k" if by_level else "labeled rows, %"
            axes.set_xlabel(varied if metric == "ranking_loss" else "")
        row[0].set_ylabel(title)
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=5, fontsize=9)
    figure.suptitle(experiment.title)
    save(figure, path, dpi=100)


def _values(experiment: Experiment, numbers: Numbers, evaluation: Evaluation, metric: str) -> Iterator[str]:
    by_level = len(experiment.k_levels) > 1
    shares = [point.k_level if by_level else point.labeled for point in experiment.points]
    yield "| dataset | method | " + " | ".join(f"{share:.0%}" for share in shares) + " |"
    yield "|---|---|" + "---|" * len(shares)
    for dataset in experiment.datasets:
        for contender in experiment.contenders:
            cells = [numbers.get(Cell(dataset, contender, evaluation, p, metric)) for p in experiment.points]
            values = " | ".join("-" if cell is None else str(cell) for cell in cells)
            yield f"| {dataset} | {contender.shown_title} | {values} |"


def _wins(experiment: Experiment, numbers: Numbers, evaluation: Evaluation) -> Iterator[str]:
    """Per method: in how many cells its mean is the best, and in how many the paper's method is clearly better."""
    rivals = [contender for contender in experiment.contenders if _competes(contender)]
    paper_method = experiment.contender(OURS)
    cells = [(dataset, point) for dataset in experiment.datasets for point in experiment.points]
    share = "labeled share" if len(experiment.k_levels) == 1 else "number of features"
    yield f"Best mean among these in so many of {len(cells)} comparisons (dataset and {share}); in brackets, in"
    yield f"how many {OURS} is better than it by more than one standard error of the difference over seeds, and worse:"
    yield ""
    yield "| method | " + " | ".join(metric.replace("_", " ") for metric in HIGHER_IS_BETTER) + " |"
    yield "|---|" + "---|" * len(HIGHER_IS_BETTER)
    for rival in rivals:
        row = []
        for metric, higher in HIGHER_IS_BETTER.items():
            best = better = worse = 0
            for dataset, point in cells:
                known = {
                    other: numbers[cell]
                    for other in rivals
                    if (cell := Cell(dataset, other, evaluation, point, metric)) in numbers
                }
                if rival not in known or paper_method not in known:
                    continue
                best += known[rival].mean == (max if higher else min)(number.mean for number in known.values())
                verdict = gain(known[paper_method], known[rival], metric).verdict
                better, worse = better + (verdict == "better than"), worse + (verdict == "worse than")
            row.append(f"{best}" if rival == paper_method else f"{best} ({better}, {worse})")
        yield f"| {rival.shown_title} | " + " | ".join(row) + " |"


def _competes(contender: Contender) -> bool:
    """Neither a control nor a variant."""
    entry = registry().get(contender.name)
    return contender.title == contender.name and entry is not None and not entry.control

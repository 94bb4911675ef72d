"""Figure 2 and the critical-difference diagram as PNG files."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.errors import extra_needed
from fedsieve.experiments.config import Experiment
from fedsieve.experiments.significance import Comparison
from fedsieve.experiments.summary import Cell, Number
from fedsieve.files import write_atomically
from fedsieve.report.paper_tables import TITLES
from fedsieve.report.titles import shown_title


def draw_curves(experiment: Experiment, numbers: dict[Cell, Number], scaling: str, path: Path) -> None:
    """Metrics (rows) against the labeled share, one column per dataset, one line per method."""
    figure = _figure(figsize=(3 * len(experiment.datasets), 8))
    panels = figure.subplots(len(TITLES), len(experiment.datasets), squeeze=False)
    for row, (metric, title) in zip(panels, TITLES.items(), strict=True):
        for axes, dataset in zip(row, experiment.datasets, strict=True):
            for method in experiment.methods:
                cells = [Cell(dataset, method.title, scaling, share, metric) for share in experiment.labeled]
                known = [(cell.labeled, numbers[cell]) for cell in cells if cell in numbers]
                shares = [100 * share for share, _ in known]
                axes.errorbar(
                    shares,
                    [number.mean for _, number in known],
                    [number.deviation for _, number in known],
                    label=shown_title(method),
                    capsize=2,
                    marker="o",
                    markersize=3,
                )
            axes.set_title(dataset if metric == "average_precision" else "", fontsize=10)
            axes.set_xlabel("labeled rows, %" if metric == "ranking_loss" else "")
        row[0].set_ylabel(title)
    lines, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=5, fontsize=9)
    figure.suptitle(experiment.title)
    _save(figure, path)


def draw_critical_differences(comparisons: dict[str, Comparison], path: Path) -> None:
    """Mean ranks of the methods, those that Nemenyi's test cannot tell apart joined by a bar; one panel per metric."""
    import pandas
    import scikit_posthocs

    n_methods = max(len(found.titles) for found in comparisons.values())
    figure = _figure(figsize=(8, (1.2 + 0.15 * n_methods) * len(comparisons)))
    panels = figure.subplots(len(comparisons), 1, squeeze=False)[:, 0]
    for axes, (metric, found) in zip(panels, comparisons.items(), strict=True):
        ranks = dict(zip(found.titles, found.mean_ranks, strict=True))
        colors = {title: f"C{index}" for index, title in enumerate(found.titles)}
        p_values = pandas.DataFrame(found.nemenyi_p, index=found.titles, columns=found.titles)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the plotting library warns of its own dependencies
            scikit_posthocs.critical_difference_diagram(ranks, p_values, ax=axes, color_palette=colors)
        axes.set_title(f"{TITLES[metric]}: Friedman p = {found.friedman_p:.3g}", fontsize=10)
    _save(figure, path)


def _figure(figsize: tuple[float, float]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise extra_needed("drawing figures", "matplotlib", "report") from None
    return Figure(figsize=figsize, layout="constrained")


def _save(figure: Any, path: Path) -> None:
    write_atomically(path, lambda file: figure.savefig(file, dpi=100, format="png"))


def comparison_values(experiment: Experiment, numbers: dict[Cell, Number], scaling: str, metric: str) -> np.ndarray:
    """Means as (n_datasets, n_methods); rows with a gap are left out."""
    (labeled,) = experiment.labeled
    rows = []
    for dataset in experiment.datasets:
        cells = [Cell(dataset, method.title, scaling, labeled, metric) for method in experiment.methods]
        if all(cell in numbers for cell in cells):
            rows.append([numbers[cell].mean for cell in cells])
    return np.array(rows).reshape(len(rows), len(experiment.methods))

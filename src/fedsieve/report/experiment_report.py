"""An experiment's records as files to read: which tables and figures each kind of experiment has."""

from collections.abc import Iterator
from pathlib import Path

from fedsieve.experiments.config import Experiment
from fedsieve.experiments.evaluation import load_by_name
from fedsieve.experiments.records import Record
from fedsieve.experiments.significance import Comparison, compare
from fedsieve.experiments.summary import Cell, Number, summarize
from fedsieve.files import write_atomically
from fedsieve.report.communication import communication_table
from fedsieve.report.paper_figures import comparison_values, draw_critical_differences, draw_curves
from fedsieve.report.paper_tables import TITLES, metric_tables, published_values
from fedsieve.report.titles import shown_title
from fedsieve.report.wins import wins_table


def write_report(experiment: Experiment, records: dict[str, Record], folder: Path, published: Path) -> list[str]:
    """Write the tables and figures of an experiment into `folder`; returns the names of the files."""
    numbers = summarize(experiment, records)
    write = {"metrics": _metrics, "curves": _curves, "communication": _communication}[experiment.kind]
    return write(experiment, records, numbers, folder, published)


def _metrics(
    experiment: Experiment, records: dict[str, Record], numbers: dict[Cell, Number], folder: Path, published: Path
) -> list[str]:
    text = metric_tables(experiment, numbers, published_values(published) if published.is_dir() else {})
    text += "".join(_own_sizes(experiment, records))
    files = [f"{experiment.name}.md"]
    for scaling in experiment.scalings:
        found = _comparisons(experiment, numbers, scaling)
        if found:
            text += _significance_text(found, scaling)
            files.append(f"{experiment.name}-ranks-{scaling}.png")
            draw_critical_differences(found, folder / files[-1])
    write_atomically(folder / files[0], lambda file: file.write_text(text, encoding="utf-8"))
    return files


def _own_sizes(experiment: Experiment, records: dict[str, Record]) -> Iterator[str]:
    """How many features a method that chooses their number itself would have kept, per dataset and seed."""
    for method in experiment.methods:
        sizes: dict[str, list[int]] = {}
        for run in experiment.runs(method):
            if "own_k" in records.get(run.key(), {}):
                sizes.setdefault(run.dataset, []).append(records[run.key()]["own_k"])
        if sizes:
            listed = "; ".join(f"{dataset} {', '.join(map(str, found))}" for dataset, found in sizes.items())
            yield f"\n{shown_title(method)} itself would have kept so many features, by seed: {listed}.\n"


def _curves(
    experiment: Experiment, _: dict[str, Record], numbers: dict[Cell, Number], folder: Path, __: Path
) -> list[str]:
    files = []
    for scaling in experiment.scalings:
        files.append(f"{experiment.name}-{scaling}.png")
        draw_curves(experiment, numbers, scaling, folder / files[-1])
    lines = [f"# {experiment.title}", "", *(f"![{name}]({name})" for name in files), ""]
    for scaling in experiment.scalings:
        lines += [f"## Who is best, {scaling} features", "", *wins_table(experiment, numbers, scaling), ""]
        for metric, title in TITLES.items():
            lines += [f"## {title}, {scaling} features", "", *_curve_table(experiment, numbers, scaling, metric), ""]
    text = "\n".join(lines)
    write_atomically(folder / f"{experiment.name}.md", lambda file: file.write_text(text, encoding="utf-8"))
    return [f"{experiment.name}.md", *files]


def _curve_table(experiment: Experiment, numbers: dict[Cell, Number], scaling: str, metric: str) -> Iterator[str]:
    yield "| dataset | method | " + " | ".join(f"{share:.0%}" for share in experiment.labeled) + " |"
    yield "|---|---|" + "---|" * len(experiment.labeled)
    for dataset in experiment.datasets:
        for method in experiment.methods:
            cells = [numbers.get(Cell(dataset, method.title, scaling, s, metric)) for s in experiment.labeled]
            values = " | ".join("-" if cell is None else str(cell) for cell in cells)
            yield f"| {dataset} | {shown_title(method)} | {values} |"


def _communication(
    experiment: Experiment, records: dict[str, Record], _: dict[Cell, Number], folder: Path, __: Path
) -> list[str]:
    shapes = {name: load_by_name(name).X.shape for name in experiment.datasets}
    text = communication_table(experiment, records, shapes)
    write_atomically(folder / f"{experiment.name}.md", lambda file: file.write_text(text, encoding="utf-8"))
    return [f"{experiment.name}.md"]


def _comparisons(experiment: Experiment, numbers: dict[Cell, Number], scaling: str) -> dict[str, Comparison]:
    titles = tuple(shown_title(method) for method in experiment.methods)
    found = {m: compare(titles, comparison_values(experiment, numbers, scaling, m), m) for m in TITLES}
    return {metric: comparison for metric, comparison in found.items() if comparison is not None}


def _significance_text(found: dict[str, Comparison], scaling: str) -> str:
    lines = [f"\n## Over datasets, {scaling} features\n"]
    for metric, comparison in found.items():
        ranks = sorted(zip(comparison.mean_ranks, comparison.titles, strict=True))
        lines.append(
            f"- {TITLES[metric]}: mean ranks {', '.join(f'{title} {rank:.1f}' for rank, title in ranks)}; "
            f"Friedman p = {comparison.friedman_p:.3g}. Wilcoxon against the best: "
            + ", ".join(f"{title} p = {p:.3g}" for title, p in comparison.wilcoxon_p.items())
            + f". Nemenyi: {_told_apart(comparison)}."
        )
    return "\n".join(lines) + "\n"


def _told_apart(comparison: Comparison) -> str:
    """The pairs of methods that Nemenyi's test tells apart at 5 %."""
    titles, p = comparison.titles, comparison.nemenyi_p
    pairs = [(a, b) for a in range(len(titles)) for b in range(a + 1, len(titles)) if p[a, b] < 0.05]
    told = [f"{titles[a]} and {titles[b]} differ (p = {p[a, b]:.3g})" for a, b in pairs]
    return ", ".join(told) or "no two methods differ at 5 %"

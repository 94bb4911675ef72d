"""An experiment's records as files to read: which tables and figures each kind of experiment has."""

from pathlib import Path

from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.records import Record
from fedsieve.experiments.selection import load_by_name
from fedsieve.experiments.summary import compare_over_datasets, summarize
from fedsieve.files import write_atomically
from fedsieve.report.communication import communication_table
from fedsieve.report.curves import curve_tables, draw_curves
from fedsieve.report.metric_tables import MetricTables, draw_critical_differences, published_values
from fedsieve.report.quality_page import with_tables
from fedsieve.report.sensitivity_page import draw_sensitivity, sensitivity_page


def write_report(
    experiment: Experiment, records: dict[str, Record], folder: Path, published: Path, *, in_place: bool = True
) -> list[Path]:
    """Write the tables and figures of an experiment into `folder`; returns the files.

    The page of an experiment of kind "quality" is changed `in_place`, or else its new text goes into `folder` too.
    """
    if experiment.kind == "quality":
        return _quality(experiment, records, None if in_place else folder)
    of_kind = {"metrics": _metrics, "curves": _curves, "communication": _communication, "sensitivity": _sensitivity}
    write = of_kind[experiment.kind]
    return write(experiment, records, folder, published)


def _metrics(experiment: Experiment, records: dict[str, Record], folder: Path, published: Path) -> list[Path]:
    numbers = summarize(experiment, records)
    found = {e: compare_over_datasets(experiment, numbers, e) for e in experiment.evaluations}
    comparisons = {evaluation: by_metric for evaluation, by_metric in found.items() if by_metric}
    tables = MetricTables(experiment, numbers, published_values(published))
    files = [_write(folder / f"{experiment.name}.md", tables.text(records, comparisons))]
    for evaluation, by_metric in comparisons.items():
        files.append(folder / f"{experiment.name}-ranks-{_in_a_name(experiment, evaluation)}.png")
        draw_critical_differences(by_metric, files[-1])
    return files


def _curves(experiment: Experiment, records: dict[str, Record], folder: Path, _: Path) -> list[Path]:
    numbers = summarize(experiment, records)
    figures = []
    for evaluation in experiment.evaluations:
        figures.append(folder / f"{experiment.name}-{_in_a_name(experiment, evaluation)}.png")
        draw_curves(experiment, numbers, evaluation, figures[-1])
    text = curve_tables(experiment, numbers, [figure.name for figure in figures])
    return [_write(folder / f"{experiment.name}.md", text), *figures]


def _sensitivity(experiment: Experiment, records: dict[str, Record], folder: Path, _: Path) -> list[Path]:
    numbers = summarize(experiment, records)
    figures = []
    for evaluation in experiment.evaluations:
        figures.append(folder / f"{experiment.name}-{_in_a_name(experiment, evaluation)}.png")
        draw_sensitivity(experiment, numbers, evaluation, figures[-1])
    text = sensitivity_page(experiment, numbers, [figure.name for figure in figures])
    return [_write(folder / f"{experiment.name}.md", text), *figures]


def _communication(experiment: Experiment, records: dict[str, Record], folder: Path, _: Path) -> list[Path]:
    shapes = {name: load_by_name(name).X.shape for name in experiment.datasets}
    return [_write(folder / f"{experiment.name}.md", communication_table(experiment, records, shapes))]


def _quality(experiment: Experiment, records: dict[str, Record], folder: Path | None) -> list[Path]:
    page = experiment.page
    if page is None:
        raise ParameterError(f"{experiment.name}: kind 'quality' needs a page.")
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{experiment.name}: page {page} cannot be read: {error.strerror}.") from None
    return [_write(folder / page.name if folder else page, with_tables(text, experiment, records))]


def _in_a_name(experiment: Experiment, evaluation: Evaluation) -> str:
    return experiment.shown(evaluation).replace(", ", "-")


def _write(path: Path, text: str) -> Path:
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))
    return path

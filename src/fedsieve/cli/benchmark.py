"""`fedsieve benchmark`: run an experiment's configurations, resume where it stopped, write its tables and figures."""

import tempfile
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fedsieve.cli.console import err, say
from fedsieve.cli.progress import prepare_kernels
from fedsieve.errors import FedSieveError, ParameterError
from fedsieve.experiments.records import Records
from fedsieve.result_folder import check_folder
from fedsieve.text import counted

if TYPE_CHECKING:
    from fedsieve.experiments.config import Experiment, Trial
    from fedsieve.experiments.runner import Task

EXAMPLE = """Run experiments from TOML files; what is recorded already is not computed
again, so an interrupted run is simply started once more.

[bold]Example[/bold]: fedsieve benchmark benchmarks/paper/tables_2_3_4.toml --jobs 2

Writes records (JSON lines), tables (Markdown) and figures (PNG) to the folder
'results' beside each file, or to --out. Published values are read from the
folder 'published' beside it, if there is one. A page that an experiment names
gets its tables where it lies; with --out, a copy of it does."""


RESULTS = "results"  # the folder beside the files
RECORDS = "records.jsonl"  # one file for all experiments of a folder, so that what they share is computed once


def benchmark(
    configs: Annotated[list[Path], typer.Argument(help="Experiment files (TOML).")],
    output: Annotated[Path | None, typer.Option("--out", help="Folder for records, tables and figures.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes that compute at once.")] = 1,
    report_only: Annotated[
        bool, typer.Option(help="Write tables from the records that exist; compute nothing.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option(help="Say how many runs are left and about how long they take; record nothing.")
    ] = False,
) -> None:
    """Run experiments; the help text is EXAMPLE."""
    from fedsieve.experiments.experiment_file import read_experiment
    from fedsieve.report.experiment_report import write_report

    if output is not None:
        check_folder(output)
    if jobs < 1:
        raise ParameterError(f"--jobs must be at least 1; got {jobs}.")
    experiments = {path: _implemented(read_experiment(path)) for path in configs}
    if estimate:
        for path, experiment in experiments.items():
            say(_estimate(experiment, output, path.parent / RESULTS))
        return
    if not report_only:
        prepare_kernels()
    for path, experiment in experiments.items():
        beside = path.parent / RESULTS
        folder = output or beside
        records = Records(folder / RECORDS)
        if not report_only:
            _compute(experiment, records, beside, jobs)
        found = records.read()
        if not found:
            raise ParameterError(f"{records.path}: holds no records; run without --report-only.")
        files = write_report(experiment, found, folder, path.parent / "published", in_place=output is None)
        say(f"{experiment.title}: {', '.join(map(str, files))}")


benchmark.__doc__ = EXAMPLE


def _implemented(experiment: "Experiment") -> "Experiment":
    """The experiment without the methods that do not exist yet; a misspelled name is an error."""
    from fedsieve.catalog import registry

    known = registry()
    absent = [contender.name for contender in experiment.contenders if contender.name not in known]
    for name in absent:
        if nearest := get_close_matches(name, known, n=1, cutoff=0.9):
            raise ParameterError(f"{experiment.name}: no method {name!r}. Did you mean {nearest[0]!r}?")
    if absent:
        say(f"{experiment.title}: no row for {', '.join(absent)}, not implemented yet.")
    return replace(experiment, contenders=tuple(row for row in experiment.contenders if row.name in known))


def _estimate(experiment: "Experiment", output: Path | None, beside: Path) -> str:
    """How much there is to do; where no record tells how long it takes, some runs are timed, and not recorded."""
    from fedsieve.experiments.hours import estimated_hours, time_some
    from fedsieve.experiments.runner import pending

    records, others = Records((output or beside) / RECORDS), Records(beside / RECORDS)
    tasks = pending(experiment, records)
    if not tasks or estimated_hours(tasks, records, others) is not None:
        return _left(experiment, tasks, records, others)
    with tempfile.TemporaryDirectory(prefix="fedsieve-timed-") as folder:
        timed = Records(Path(folder) / RECORDS)
        prepare_kernels()
        try:
            n_timed = time_some(tasks, timed)
        except FedSieveError as error:
            return f"{_left(experiment, tasks, records)} None could be timed: {error}"
        return _left(experiment, tasks, records, timed, n_timed=n_timed)


def _left(experiment: "Experiment", tasks: "list[Task]", records: Records, *others: Records, n_timed: int = 0) -> str:
    """How much there is to do, in hours of one processor where records tell how long, or else runs that were timed."""
    from fedsieve.experiments.hours import estimated_hours

    hours = estimated_hours(tasks, records, *others) if tasks else 0.0
    if hours is None:
        length = "nothing is recorded that would tell how long"
    else:
        length = f"about {hours:.2f} CPU hours" if hours >= 0.1 or not hours else f"about {hours * 60:.1f} CPU minutes"
    by = f", by {counted(n_timed, 'run')} timed now, as nothing was recorded" if n_timed else ""
    return f"{experiment.name}: {counted(len(tasks), 'run')} to do, {length}{by}."


def _compute(experiment: "Experiment", records: Records, beside: Path, jobs: int) -> None:
    from fedsieve.experiments.hours import estimated_hours, time_some
    from fedsieve.experiments.runner import compute, pending

    others = Records(beside / RECORDS)
    tasks, n_timed = pending(experiment, records), 0
    if tasks and estimated_hours(tasks, records, others) is None:
        err.print(f"{experiment.name}: {counted(len(tasks), 'run')} to do; timing some of them first ...")
        n_timed = time_some(tasks, records)
        tasks = pending(experiment, records)
    err.print(_left(experiment, tasks, records, others, n_timed=n_timed))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task(f"{experiment.name}: {counted(len(tasks), 'run')} to do", total=len(tasks))

        def tell(trial: "Trial") -> None:
            progress.update(bar, advance=1, description=f"{experiment.name}: {trial.dataset}, {trial.method}")

        compute(tasks, records, jobs=jobs, tell=tell)

"""`fedsieve evaluate`: labeled rows in, whether a selection is worth it on them out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from fedsieve.checks import check_choice, check_count, check_n_features
from fedsieve.cli.console import err, out, say, warn
from fedsieve.cli.options import (
    K_HELP,
    NOMINAL_HELP,
    Dates,
    Drop,
    Keep,
    assignment,
    how_many,
    missing_in,
    split_names,
)
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.reading import AS_FOUND, FORMATS, reads_tables
from fedsieve.cli.reporting import command_again, files_of_report, write_report_of
from fedsieve.cli.speech import AsJson, document
from fedsieve.cli.tables import ColumnOptions, read_one, read_sites
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import label_leaks
from fedsieve.datasets.dialect import Reading
from fedsieve.errors import DataError, ParameterError, listed
from fedsieve.experiments.classifiers import CLASSIFIERS, USUAL
from fedsieve.messages.columns import ERROR
from fedsieve.report.pictures import new_figure
from fedsieve.result_folder import check_folder
from fedsieve.values import check_values

if TYPE_CHECKING:
    from fedsieve.catalog import CatalogEntry
    from fedsieve.experiments.assessment import Assessment
    from fedsieve.experiments.labeled_rows import LabeledRows


@reads_tables
def evaluate(
    labeled: Annotated[Path, typer.Option(help=f"The labeled rows: {FORMATS}.")],
    labels: Annotated[str, typer.Option(help='Label columns: "y1,y2", "prefix:label_" or a Mulan XML file.')],
    output: Annotated[Path, typer.Option("--out", help="Folder for the result.")],
    client: Annotated[
        list[str] | None, typer.Option(help="Unlabeled rows of a site: FILE, or NAME=FILE. None, or two and more.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="What selects in every fold: a method of the registry; Sieve unless given.")
    ] = None,
    selection: Annotated[
        Path | None, typer.Option(help="Judge this selection.json (or its folder) as it is, instead of a method.")
    ] = None,
    k: Annotated[str | None, typer.Option("-k", help=K_HELP)] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Another parameter of the method: lam=2. May be given again.")
    ] = None,
    against: Annotated[
        list[str] | None, typer.Option(help="A further method to compare with: GRMFS. May be given again.")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of features to try: 5,10,20; default by their number.")] = "",
    classifier: Annotated[
        list[str] | None, typer.Option(help=f"Who judges: {', '.join(CLASSIFIERS)}; the first two unless given.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Into how many folds the labeled rows are dealt out.")] = 5,
    repeats: Annotated[int, typer.Option(help="How often they are dealt out anew.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the folds, of random features, and of methods that draw.")] = 0,
    shared: Annotated[bool, typer.Option(help="Use the features that all files share instead of refusing.")] = False,
    drop: Drop = "",
    nominal: Annotated[list[str] | None, typer.Option(help=NOMINAL_HELP)] = None,
    dates: Dates = "",
    keep: Keep = "",
    force: Annotated[bool, typer.Option(help="Replace an existing result.")] = False,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Judge a selection by cross-validation on labeled rows: is it worth it?

    [bold]Example[/bold]: fedsieve evaluate --labeled server.csv --labels prefix:label_ \\
    --client siteA.parquet --client siteB.csv -k 30 --against ssfmlfs --out evaluation/

    In every fold the method selects anew from the other folds and the clients' rows,
    and classifiers that learn from the selected features are measured on the fold,
    beside all features, random ones and the methods in --against. Writes
    evaluation.json, evaluation.csv, folds.csv, evaluation.png and report.html, a page
    to look at. In the folder of a selection, that page is the selection's own with
    what was found.
    """
    from fedsieve.experiments.cross_validation import CONTROLS, assess
    from fedsieve.experiments.rankers import built, registered
    from fedsieve.report.assessment_files import JSON, assessment_record, write_assessment
    from fedsieve.selectors import load_selection

    check_folder(output)
    if not force and (output / JSON).exists():
        raise DataError(f"{output / JSON} exists already. Choose another --out, or give --force to replace it.")
    if selection is not None and (method is not None or k is not None or change):
        raise ParameterError("--selection is judged as it is: leave it out, or leave out --method, -k and --set.")
    new_figure("fedsieve evaluate", (1, 1))  # what is missing for the picture is said before any work
    check_count("", "--folds", folds, 2)
    check_count("", "--repeats", repeats)
    check_count("", "--seed", seed, 0)
    n_selected, tried, judges = how_many(k), _sizes(sizes), _classifiers(classifier)
    given = dict(assignment(text) for text in change or ())
    entry = registered(method or "Sieve", "--method")
    compared = [registered(name, "--against") for name in against or ()]
    if entry.name in CONTROLS:
        raise ParameterError(f"--method: {entry.name!r} is what a selection is compared with anyway; name another.")
    _check_parameters(entry, given)
    loaded = None if selection is None else load_selection(selection)
    if loaded is None and entry in compared:
        raise ParameterError(f"--against: {entry.name!r} is what is judged; leave it out, or judge another --method.")
    columns = ColumnOptions(drop, nominal or (), dates, keep)
    rows, codes = _read(labeled, labels, client or [], shared, reading, columns)
    check_count("", "--folds", folds, 2, int(rows.labeled.sum()), "labeled rows=")
    for number in tried:
        check_count("", "each of --sizes", number, 1, len(rows.usable), "n_features=")
    own = {"n_features_to_select": n_selected, "random_state": seed, "nominal": codes, **given}
    if loaded is None:
        _check_fit(entry, own, rows)
    prepare_kernels()
    with _progress() as progress:
        bar = progress.add_task("folds", total=folds * repeats)
        found = assess(
            built(entry, **own) if loaded is None else loaded,
            rows,
            sizes=tried or None,
            against={e.name: _beside(e, codes, seed) for e in compared if e.name not in CONTROLS},
            classifiers=judges,
            n_folds=folds,
            n_repeats=repeats,
            seed=seed,
            tell=lambda done, _: progress.update(bar, completed=done),
        )
    files = write_assessment(found, output, command_again())
    page = write_report_of(output)
    for title in found.classifiers:
        out.print(_table(found, title))
    for line in found.verdict:
        say(line)
    files += [output / name for name in files_of_report(page)]
    say(f"Written: {', '.join(map(str, files))}.")
    if page is not None:
        say(f"To look at it: {page}")
    if as_json:
        document({**assessment_record(found, command_again()), "files": [str(file) for file in files]})


def _read(
    labeled: Path, labels: str, clients: list[str], shared: bool, reading: Reading, columns: ColumnOptions
) -> "tuple[LabeledRows, list[int]]":
    """The labeled rows and the clients' in numbers, and which features are codes."""
    from fedsieve.experiments.labeled_rows import read_labeled_rows
    from fedsieve.experiments.rankers import OWNER

    if clients:
        # Classifiers learn from rows whose labels are all known.
        data = read_sites(labeled, labels, clients, shared=shared, reading=reading, columns=columns, partly=False)
        features, X, known, codes = data.features, data.labeled.X, data.Y, data.nominal
        tables: Any = {name: table.whole(features) for name, table in data.sites.items()}
    else:
        one = read_one(labeled, labels, reading, columns, partly=False)
        features, X, known, tables = tuple(one.features), one.X, one.Y, None
        codes = one.coding.nominal(columns.declared(features).nominal)
    names, Y = data.labels if clients else tuple(one.labels), known.astype(np.int64)
    for feature, label in label_leaks(Dataset("the labeled rows", X, Y, features, names)):
        warn(f"feature {feature!r} is identical to label {label!r} on the labeled rows: a label among the features?")
    places = [features.index(name) for name in codes]
    return read_labeled_rows(OWNER, X, Y, tables, places, features=features), places


def _check_fit(entry: "CatalogEntry", own: dict[str, Any], rows: "LabeledRows") -> None:
    """What the rows alone tell of a fit that would fail in the first fold."""
    check_n_features("", own["n_features_to_select"], len(rows.usable), words=("auto",), name="-k")
    if {**entry.factory().get_params(deep=False), **own}.get("missing") != ERROR:
        return
    way_out = f"Fill them in, or let {entry.name}: --set missing={missing_in(entry.name, None)['missing']}."
    clients = {f"client {name!r}": table.whole(rows.names) for name, table in rows.tables.items()}
    for owner, table in {"the labeled rows": rows.numbers, **clients}.items():
        try:
            check_values(table, rows.names, ERROR, way_out)
        except DataError as error:
            raise DataError(f"{owner}: {error}") from None


def _check_parameters(entry: "CatalogEntry", given: dict[str, Any]) -> None:
    known = entry.factory().get_params(deep=False)
    unknown = [name for name in given if name not in known]
    if unknown:
        has = listed(list(known), 30)
        raise ParameterError(f"--set: {entry.name} has no parameter {listed(unknown)}; it has {has}.")


def _beside(entry: "CatalogEntry", codes: list[int], seed: int) -> Any:
    """A method as it is by default; what is missing, it takes in its own way."""
    from fedsieve.experiments.rankers import built

    way = missing_in(entry.name, None) if "missing" in entry.factory().get_params(deep=False) else {}
    return built(entry, nominal=codes, random_state=seed, **way)


def _classifiers(names: list[str] | None) -> list[str]:
    known = {name.lower(): name for name in CLASSIFIERS}
    for name in names or ():
        check_choice("fedsieve", "--classifier", known.get(name.lower(), name), CLASSIFIERS)
    return [known[name.lower()] for name in names or USUAL]


def _sizes(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in split_names(text)]
    except ValueError:
        raise ParameterError(f"--sizes takes whole numbers: 5,10,20; got {text!r}.") from None
    for number in numbers:
        check_count("", "each of --sizes", number)
    return numbers


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(), console=err)


def _table(found: "Assessment", classifier: str) -> Table:
    """Average precision by number of features and method."""
    from fedsieve.experiments.assessment import OWN

    table = Table(title=f"Average precision by {classifier}", title_justify="left")
    methods = (found.method, *found.others)
    for title in ("features", *methods):
        table.add_column(title, justify="right", overflow="fold")
    own = found.mean(found.method, classifier, OWN, "n_features")
    points: list[int | str] = [*found.sizes, OWN]
    for point in points:
        shown = f"selected: {own:g}" if point == OWN else str(point)
        table.add_row(shown, *(f"{found.mean(name, classifier, point):.4f}" for name in methods))
    return table

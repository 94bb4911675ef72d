"""`fedsieve rerank`: another number of features from the totals of an earlier run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.agreed_tables import labeled_again
from fedsieve.cli.console import chance_line, n_shown, out, ranking_table, say, say_error_rate
from fedsieve.cli.options import K_HELP, Force, assignment, how_many
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.reading import AS_FOUND, reads_tables
from fedsieve.cli.reporting import command_again, result_document, write_report_of
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets.dialect import Reading
from fedsieve.errors import DataError, ParameterError
from fedsieve.protocol import Labeled
from fedsieve.selection_file import pairs_record, read_selection, refuse_to_overwrite, write_selection
from fedsieve.text import counted
from fedsieve.transport.rerank import rerank as rerank_totals
from fedsieve.transport.rerank import reranked_record
from fedsieve.transport.totals_file import TOTALS, Totals, read_totals, result_digest


@reads_tables
def rerank(
    result: Annotated[
        Path, typer.Argument(help="The folder of a result, of 'select' or of a run.", show_default=False)
    ],
    k: Annotated[str | None, typer.Option("-k", help=K_HELP)] = None,
    labeled: Annotated[
        Path | None, typer.Option(help="The labeled rows of the run; of a federation those of 'serve' are found.")
    ] = None,
    federation: Annotated[
        Path | None, typer.Option(help="The operator's folder, if the result lies outside of it.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Another parameter of the server alone: n_trees=400.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the result; default kK in RESULT.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Select another number of features from the totals of an earlier run; no site is asked again.

    [bold]Example[/bold]: fedsieve rerank result/ -k 20 --labeled server.csv

    Needs the totals of the run, totals.bin, which 'select' leaves in the result and
    a federation in the run's folder (until 'federation purge'), and the same labeled
    rows. What decides what sites are asked cannot change: that takes a new run.
    """
    changes: dict[str, Any] = {} if k is None else {"n_features_to_select": how_many(k)}
    changes |= dict(assignment(text) for text in change or ())
    if not changes:
        raise ParameterError("rerank needs -k, or --set NAME=VALUE, to know what to change.")
    folder = result if result.is_dir() else result.parent
    target = None if output is None and k in (None, "auto") else output or folder / f"k{k}"
    if target is not None:
        refuse_to_overwrite(target, force=force)
    record = read_selection(result, whole=True)
    place = _operators(folder, federation) if record.get("federation") else None
    file = _totals_file(folder, place, record)
    totals = read_totals(file)
    if totals.result != result_digest(record):
        raise DataError(f"{file}: holds the totals of another result than {result}. It takes a new run.")
    rows = _labeled(totals, record, labeled, place, reading)
    prepare_kernels()
    method, selection = rerank_totals(totals, rows, changes)
    again = reranked_record(record, method, selection)
    target = target or folder / f"k{len(again['selected'])}"
    if output is None:
        refuse_to_overwrite(target, force=force)
    again |= {"pairs": pairs_record(method, selection), "command": command_again()}
    write_selection(again, target)
    page = write_report_of(target)
    out.print(ranking_table(again, n_shown(again)))
    if line := chance_line(again):
        say(line)
    say_error_rate(again)
    before, now = len(record["selected"]), counted(len(again["selected"]), "feature")
    say(f"Selected {now} instead of {before}, asking nobody; the result is in {target}.")
    if page is not None:
        say(f"To look at it: {page}")
    if as_json:
        document(result_document(again, target, page))


def _operators(folder: Path, federation: Path | None) -> Path | None:
    """The operator's folder: as given, or around the run's folder."""
    if federation is not None:
        return federation
    around = (place for place in folder.resolve().parents if (place / "federation.toml").is_file())
    return next((place for place in around if (place / "server").is_dir()), None)


def _totals_file(folder: Path, place: Path | None, record: dict[str, Any]) -> Path:
    """Where the totals of a result lie."""
    if not record.get("federation"):
        if (folder / TOTALS).is_file():
            return folder / TOTALS
        raise DataError(
            f"{folder}: has no {TOTALS}, the totals of the run: they were deleted, or {record['method']} needs every "
            "site's own replies, or it is no result of 'fedsieve select'. 'fedsieve apply -k K' takes the best K of "
            "the order that is there."
        )
    run = str(record["federation"].get("run"))
    if place is None:
        raise DataError(
            f"{folder}: is the result of run {run!r} of a federation, whose totals lie with the operator: name its "
            "folder with --federation. A site is told the result, not the totals."
        )
    file = place / "server" / "runs" / Path(run).name / TOTALS
    if not file.is_file():
        raise DataError(
            f"{file}: is not there: the totals were purged, or {record['method']} needs every site's own replies. "
            "'fedsieve apply -k K' takes the best K of the order that is there."
        )
    return file


def _labeled(
    totals: Totals, record: dict[str, Any], file: Path | None, place: Path | None, reading: Reading
) -> Labeled:
    rows = None if file is None else labeled_again(file, totals, record["labels"], reading)
    if place is not None:
        from fedsieve.deployment.runs import labeled_for_runs
        from fedsieve.deployment.server_folder import ServerFolder  # loads cryptography

        return labeled_for_runs(ServerFolder(place), totals.method, str(record["federation"]["agreement"]), rows)
    if rows is None:
        raise ParameterError(
            "rerank needs --labeled FILE, the labeled rows of the run: they are not kept with a result."
        )
    return rows

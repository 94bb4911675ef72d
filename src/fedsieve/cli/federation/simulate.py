"""`fedsieve federation simulate`: many virtual sites on this machine, the same apps in Flower's simulation on Ray."""

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fedsieve.arrays import Float, Int
from fedsieve.cli.agreed_tables import read_labeled, read_rows
from fedsieve.cli.console import cost_line, n_shown, out, ranking_table, say, say_error_rate, say_what_is_missing
from fedsieve.cli.options import K_HELP, Dates, Drop, Force, Keep, asked_and_other, choices_help, how_many
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.reading import AS_FOUND, reads_tables
from fedsieve.cli.reporting import result_document
from fedsieve.cli.speech import AsJson, document
from fedsieve.cli.tables import ColumnOptions, read_one
from fedsieve.datasets import load_digits, partition
from fedsieve.datasets.dialect import Reading
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.runs import find_run
from fedsieve.errors import ParameterError, ProtocolError, extra_needed
from fedsieve.kernels import thread_count
from fedsieve.protocol import Labeled
from fedsieve.selection_file import refuse_to_overwrite, write_selection
from fedsieve.values import dense

ADDRESS = "127.0.0.1:9443"  # nobody listens: a simulation has no network
LABELED = 0.2
PRIVACY = {"min_rows": 2}


@reads_tables
def simulate(
    clients: Annotated[int, typer.Option(help="How many virtual sites.")] = 100,
    method: Annotated[str, typer.Option(help="sieve, or ssfmlfs (the paper's method).")] = "sieve",
    k: Annotated[str | None, typer.Option("-k", help=K_HELP)] = None,
    labeled: Annotated[Path | None, typer.Option(help="Labeled rows; default: the bundled digits.")] = None,
    labels: Annotated[str, typer.Option(help="Label columns of the labeled rows.")] = "",
    rows: Annotated[Path | None, typer.Option(help="Unlabeled rows to deal out among the sites.")] = None,
    drop: Drop = "",
    dates: Dates = "",
    keep: Keep = "",
    missing: Annotated[str | None, typer.Option(help=choices_help("missing", supervised=False))] = None,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for the result.")] = None,
    seed: Annotated[int, typer.Option(help="Decides how rows are dealt out.")] = 0,
    force: Force = False,
    as_json: AsJson = False,
    reading: Reading = AS_FOUND,
) -> None:
    """Try a federation of many virtual sites on this machine, in Flower's simulation (Ray).

    [bold]Example[/bold]: fedsieve federation simulate --clients 100
    """
    asked, _ = asked_and_other(method)
    if find_spec("ray") is None:
        raise extra_needed("fedsieve federation simulate", "ray", "simulation")
    if output is not None:
        refuse_to_overwrite(output, force=force)
    names = [f"site-{number:04d}" for number in range(1, clients + 1)]
    given = {"n_features_to_select": how_many(k), "missing": missing}
    chosen: dict[str, Any] = {
        "method": asked,
        "parameters": {name: value for name, value in given.items() if value is not None},
    }
    if labeled is None:
        for option, value in (("--drop", drop), ("--dates", dates), ("--keep", keep)):
            if value:
                raise ParameterError(f"{option} names columns of the table that --labeled names; give both or none.")
        text, own, parts = _digits(names, chosen, seed)
    else:
        text, own, parts = _files(
            names, chosen, labeled, labels, rows, seed, reading, ColumnOptions(drop, (), dates, keep)
        )
    prepare_kernels()
    with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
        folder = create(Path(place) / "federation", text, names, ADDRESS)
        folder.write_labeled(own.X, own.Y)
        features = folder.agreement().method.features
        for name, part in zip(names, parts, strict=True):
            folder.site(name).write_rows(features, part)
        say(f"{clients} virtual sites with {min(map(len, parts))} to {max(map(len, parts))} rows each.")
        from fedsieve.transport.flower import simulation  # loads Ray

        start = time.monotonic()
        simulation.simulate(folder, thread_count())
        run = find_run(folder)
        record = run.result()
        if record is None:
            raise ProtocolError(f"the simulated run has no result: {run.failure()}")
    record["seed"] = seed
    if output is not None:
        write_selection(record, output)
    out.print(ranking_table(record, n_shown(record)))
    say_error_rate(record)
    say_what_is_missing(record)
    say(cost_line(record))
    say(f"Simulated in {time.monotonic() - start:.1f} s." + (f" The result is in {output}." if output else ""))
    if as_json:
        document(result_document(record, output, None))


def _digits(names: list[str], chosen: dict[str, Any], seed: int) -> tuple[str, Labeled, list[Float]]:
    digits = load_digits()
    labeled_rows, others = partition.labeled_split(digits.Y, LABELED, seed)
    parts = partition.dirichlet(digits.Y[others], len(names), 0.5, seed)
    features, labels = list(digits.feature_names), list(digits.label_names)
    text = _agreement(names, features, labels, chosen)
    X: Float = dense(digits.X)
    labeled = Labeled(X[labeled_rows], digits.Y[labeled_rows].astype(np.float64))
    return text, labeled, [X[others[part]] for part in parts]


def _files(
    names: list[str],
    chosen: dict[str, Any],
    labeled: Path,
    labels: str,
    rows: Path | None,
    seed: int,
    reading: Reading,
    columns: ColumnOptions,
) -> tuple[str, Labeled, list[Float]]:
    if rows is None or not labels:
        raise ParameterError("--labeled needs --labels and --rows, the unlabeled rows to deal out.")
    found = read_one(labeled, labels, reading, columns)
    coding = found.coding
    coded = {"categories": coding.categories, "nominal": coding.coded, "dates": coding.dates}
    text = _agreement(names, found.features, found.labels, {**chosen, **coded})
    agreement = parse_agreement(text)
    X, _ = read_rows(rows, agreement, reading)
    no_labels: Int = np.zeros((len(X), 1), dtype=np.int64)
    parts = partition.iid(no_labels, len(names), seed)
    return text, read_labeled(labeled, agreement, reading), [X[part] for part in parts]


def _agreement(names: list[str], features: list[str], labels: list[str], chosen: dict[str, Any]) -> str:
    text = agreement_text("simulation", ADDRESS, names, features, labels, privacy=PRIVACY, **chosen)
    parse_agreement(text)  # says what is wrong before anything is made
    return text

"""`fedsieve federation label`: after a run, the server's model goes to the sites, which score their own rows by it."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from fedsieve.checks import check_choice, check_count
from fedsieve.cli.console import can_ask, out, say, warn
from fedsieve.cli.federation import Folder
from fedsieve.cli.federation.collect import result_to_follow
from fedsieve.cli.federation.run import run_unless_interrupted, wait_for_sites
from fedsieve.cli.reporting import command_again
from fedsieve.cli.speech import AsJson, document
from fedsieve.deployment.after_run import check_allowed
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.folders import write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.runs import AFTER, FOUND, MODEL, RunFolder, find_run, next_number, what_follows
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import DataError, ProtocolError, listed
from fedsieve.files import write_atomically
from fedsieve.messages.label_model import NEIGHBORS
from fedsieve.methods.labeling import Labeling
from fedsieve.privacy import SITE
from fedsieve.result_folder import check_folder, make_folder
from fedsieve.text import counted, visible
from fedsieve.transport.codec import encode

FILE = "labels.json"
KINDS = {"rows": int, "model": str, "metrics": dict, "not_scored": dict, "not_counted": dict}


def label(
    folder: Folder,
    run: Annotated[str | None, typer.Option(help="The run; default: the latest.")] = None,
    model: Annotated[str, typer.Option(help="mlknn (sends the labeled rows), or logistic (sends weights).")] = "mlknn",
    neighbors: Annotated[int, typer.Option(help="Of mlknn: how many vote.")] = 10,
    min_cell: Annotated[
        int, typer.Option(help="Counted sets of rows differ in so many at least; sites may ask for more.")
    ] = SITE.min_cell,
    output: Annotated[Path | None, typer.Option("--out", help="Folder for labels.json; default at the server.")] = None,
    wait: Annotated[int, typer.Option(help="Seconds to wait for all sites to be online.")] = 60,
    yes: Annotated[bool, typer.Option("--yes", help="Send the model without being asked.")] = False,
    force: Annotated[bool, typer.Option(help="Replace an existing labels.json.")] = False,
    as_json: AsJson = False,
) -> None:
    """After a run, send a model of the selected columns to the sites; each scores its own rows, and no row leaves.

    Sites whose tables have the label columns send counts of the scores, from which metrics of the whole federation
    follow.

    [bold]Example[/bold]: fedsieve federation label fed/ --model logistic
    """
    from fedsieve.learning.label_models import MODELS

    federation = ServerFolder(folder)
    agreement = federation.agreement()
    check_allowed(agreement.after, Labeling.name)
    check_choice("", "--model", model, MODELS)
    check_count("", "--neighbors", neighbors)
    check_count("", "--min-cell", min_cell)
    if output is not None:
        check_folder(output)
    if output is not None and (output / FILE).exists() and not force:
        raise DataError(f"{output / FILE} exists already. Choose another --out, or give --force to replace it.")
    followed = find_run(federation, run)
    record = result_to_follow(followed, agreement)
    method = _labeling(federation, agreement, record["selected"], model, neighbors, min_cell)
    sent = encode(method.scoring())
    if (other := counted_of_another(federation, agreement, sent, min_cell)) is not None:
        warn(
            f"under this agreement sites have counted the scores of another model, or with another --min-cell "
            f"({other.id}). They score their rows by this one too, but those that counted send no counts of it."
        )
    _ask(method, len(record["order"]), yes=yes)
    if output is not None:
        make_folder(output)  # before sites tell counts, which they tell of one model only
    took_part = [name for name in record["federation"]["sites"] if name not in record["dropped"]]
    online, _ = wait_for_sites(federation, wait, agreement.method.min_clients if method.secure else 1)
    sites = [name for name in took_part if name in online]
    if not sites:
        raise ProtocolError(f"none of the sites of run {followed.id} is online: {listed(took_part, 20)}.")
    number = next_number(federation, followed, Labeling.name)
    this = what_follows(federation, followed, Labeling.name, sites, number=number, least=min_cell)
    write_atomically(this.path / MODEL, lambda path: path.write_bytes(sent), mode=PRIVATE)
    again = command_again(whole_paths=True)
    run_unless_interrupted(federation, this, f"interrupted. Start it again: {again}")
    found = this.aside(FOUND, KINDS)
    assert found is not None
    place = output or this.path
    write_json(place / FILE, {"run": followed.id, **found})
    _show(found, followed.id, place / FILE)
    if as_json:
        document({"run": followed.id, **found})


def counted_of_another(folder: ServerFolder, agreement: Agreement, sent: bytes, least: int) -> RunFolder | None:
    """Where sites told counts of another model under this agreement, if they did; they tell of one only."""
    for path in sorted((folder.server / AFTER).glob(f"*.{Labeling.name}*")):
        earlier = RunFolder(path)
        settings, found = earlier.settings(), earlier.aside(FOUND, {"metrics": dict})
        if settings["agreement"] == agreement.fingerprint and found is not None and found["metrics"]:
            return earlier if ((path / MODEL).read_bytes(), settings["least"]) != (sent, least) else None
    return None


def _labeling(
    folder: ServerFolder, agreement: Agreement, selected: list[str], model: str, neighbors: int, min_cell: int
) -> Labeling:
    """The model, learned from the server's labeled rows in the selected columns."""
    from fedsieve.learning.label_models import label_model

    labeled, features = folder.labeled(), agreement.method.features
    places = [features.index(name) for name in selected]
    Y = labeled.Y[:, -len(agreement.labels) :]  # one label is kept as two classes, of which it is the second
    nominal = np.array([name in set(agreement.method.nominal) for name in selected])
    made = label_model(model, labeled.X[:, places], Y, nominal, neighbors)
    return Labeling.after(agreement.method, selected, agreement.labels, model=made, least=min_cell)


def _ask(method: Labeling, n_features: int, *, yes: bool) -> None:
    """What the operator gives away."""
    assert method.model is not None
    of_all = f"{len(method.features)} of {n_features} columns"
    if method.model.kind == NEIGHBORS:
        assert method.model.rows is not None
        rows = counted(len(method.model.rows), "labeled row")
        warn(f"ML-kNN is made of your labeled rows: all {rows} go to all sites, with {of_all} and all labels.")
    else:
        say(f"Logistic regression: weights of {of_all} go to all sites, and no labeled row.")
    if yes:
        return
    if not can_ask():
        raise ProtocolError("the model was not sent: nobody is there to ask. Give --yes to send it unattended.")
    if not typer.confirm("Send the model?", default=False):
        raise ProtocolError("the model was not sent.")


def _show(found: dict[str, Any], run: str, file: Path) -> None:
    metrics = found["metrics"]
    for words, reasons in (("has no scores", found["not_scored"]), ("sent no counts", found["not_counted"])):
        for site, reason in reasons.items():
            warn(visible(f"{site} {words}: {reason}"))
    say(f"Run {run}: {counted(found['rows'], 'row')} scored by {found['model']}, each at its own site (scores.csv).")
    if not metrics:
        why = "No counts came" if found["not_counted"] else "No site knows labels that may be counted"
        say(f"{why}, so that nothing is known of how good the scores are.")
        return
    table = Table(title="How good the scores are, over all sites", title_justify="left")
    for title in ("label", "with", "without", "average precision", "area under ROC", "calibration error"):
        table.add_column(title, justify="left" if title == "label" else "right", overflow="fold")
    for name, one in metrics["labels"].items():
        numbers = (one[key] for key in ("average_precision", "area_under_roc", "calibration_error"))
        cells = ("-" if value is None else f"{value:.3f}" for value in numbers)
        table.add_row(visible(name), str(one["n_with"]), str(one["n_without"]), *cells)
    out.print(table)
    ranked = zip(("average precision", "ranking loss"), metrics["ranked"], strict=True)
    told = [f"{name} {ends[0]:.3f} to {ends[1]:.3f}" for name, ends in ranked if ends is not None]
    if told:
        say(f"Per row, as in the paper: {', '.join(told)}.")
    say(
        "Numbers of rows with and without a label are exact, of the rows that were counted. All else is known up to "
        "bins, and rows of a bin that too few share are counted in a neighboring one, so that true values may lie "
        f"somewhat outside. All numbers: {file}"
    )

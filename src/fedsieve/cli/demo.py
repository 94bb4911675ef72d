"""`fedsieve demo`: ten unlike sites and a server choose pixels of handwritten digits, by Sieve and by SSFMLFS."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from fedsieve.arrays import Int
from fedsieve.cli.console import add_other_ranks, agreement_line, chance_line, out, ranking_table, say, warn
from fedsieve.cli.options import SIEVE, SSFMLFS, asked_and_other, how_many
from fedsieve.cli.progress import Rounds, prepare_kernels
from fedsieve.cli.reporting import command_again, files_of_report, result_document, write_report_of
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets import Dataset, load_digits, partition
from fedsieve.datasets.dataset import SIDE
from fedsieve.errors import MissingExtraError
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.protocol import SERVER, Labeled, Method
from fedsieve.protocol.outcome import Outcome
from fedsieve.protocol.shift import shift_of_tables, shift_record, shift_words
from fedsieve.report.pictures import draw_pixels
from fedsieve.selection_file import (
    CSV,
    JSON,
    pairs_record,
    read_selection,
    refuse_to_overwrite,
    selection_record,
    write_selection,
)
from fedsieve.tables import ArrayTable
from fedsieve.text import size
from fedsieve.transport import in_process

N_CLIENTS, ALPHA, LABELED = 10, 0.5, 0.2
WIRES = ("statistics", "vectors", "matrices")
N_DRAWS = 20
PICTURE = "pixels.png"


@dataclass(frozen=True, eq=False)
class TimedRun:
    """A method, its outcome, and how long it took."""

    method: Method
    outcome: Outcome
    shift: dict[str, Any] | None
    seconds: float


def demo(
    output: Annotated[Path, typer.Option("--out", help="Folder for the result and the picture.")] = Path("demo-result"),
    method: Annotated[str, typer.Option(help="Whose choice is written: sieve or ssfmlfs.")] = "sieve",
    k: Annotated[
        str | None,
        typer.Option("-k", help='How many pixels, or a share of them; default by their number. "auto": Sieve decides.'),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split over server and clients.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Choose pixels of handwritten digits with ten sites, offline, in seconds.

    [bold]Example[/bold]: fedsieve demo --out demo-result

    1797 images, 64 pixels, eight labels such as "prime" or "closed_loop". A fifth
    of the rows is labeled and lies on the server; ten clients hold the others,
    unlabeled and unevenly spread (Dirichlet 0.5). Shows the choice of Sieve and of
    the paper's SSFMLFS, in its three wire forms; writes that of --method. Replaces
    an earlier demo.
    """
    start = time.perf_counter()
    asked, other = asked_and_other(method)
    digits = load_digits()
    _keep_other_results(output, digits.label_names)
    sieve = SieveMethod(digits.feature_names, n_features_to_select=how_many(k))
    labeled_rows, others = partition.labeled_split(digits.Y, LABELED, seed)
    parts = [others[part] for part in partition.dirichlet(digits.Y[others], N_CLIENTS, ALPHA, seed)]
    sites = {f"site-{i:02d}": ArrayTable(digits.feature_names, digits.X[rows]) for i, rows in enumerate(parts, start=1)}
    labeled = Labeled(digits.X[labeled_rows], digits.Y[labeled_rows].astype(np.float64))
    say(f"Handwritten digits: {len(digits.X)} rows, {SIDE * SIDE} pixels, labels {', '.join(digits.label_names)}.")
    sizes = ", ".join(str(len(rows)) for rows in parts)
    say(f"Server: {len(labeled_rows)} labeled rows. Clients: {sizes} unlabeled rows.")
    prepare_kernels()

    runs = {SIEVE: _run("Sieve", sieve, labeled, sites)}
    n_chosen = runs[SIEVE].outcome.selection.n_selected
    for wire in WIRES:
        in_form = SSFMLFSMethod(digits.feature_names, n_features_to_select=n_chosen, wire=wire)
        runs[f"{SSFMLFS}, {wire}"] = _run(f"SSFMLFS, wire form {wire}", in_form, labeled, sites)
    runs[SSFMLFS] = runs[f"{SSFMLFS}, {WIRES[0]}"]

    records = {
        name: selection_record(runs[name].method, runs[name].outcome, list(digits.label_names), seed=seed)
        for name in (asked, other)
    }
    record = records[asked]
    record["shift"] = runs[asked].shift
    record["pairs"] = pairs_record(runs[asked].method, runs[asked].outcome.selection)
    record["timing"] = {"seconds": round(runs[asked].seconds, 3)}
    record |= {"n_labeled": len(labeled.X), "command": command_again()}
    for words in shift_words(record["shift"]):
        warn(words)
    add_other_ranks(record, records[other])
    write_selection(record, output)
    pixel_of = {name: pixel for pixel, name in enumerate(digits.feature_names)}
    chosen = {name: np.array([pixel_of[pixel] for pixel in found["selected"]]) for name, found in records.items()}
    ranks = {name: {int(p): rank for rank, p in enumerate(pixels, start=1)} for name, pixels in chosen.items()}
    for name, of_pixel in ranks.items():
        say(f"\nThe {len(of_pixel)} pixels of {SIDE} x {SIDE} that {name} chooses, with their rank (1 is best):\n")
        out.print(pixel_picture(of_pixel, SIDE))
    say(f"\n{agreement_line(record, records[other])}\n")
    out.print(ranking_table(record, 10))
    if line := chance_line(record):
        say(f"{line}\n")
    quality = _quality(digits, labeled_rows, others, chosen, seed)
    out.print(_quality_table(quality))
    costs = _costs({name: run for name, run in runs.items() if name != SSFMLFS}, sites)
    out.print(_cost_table(costs))
    say(_agreement([runs[f"{SSFMLFS}, {wire}"].outcome for wire in WIRES]))
    page = write_report_of(output)
    files = ", ".join([JSON, CSV, *_draw(digits, ranks, output), *files_of_report(page)])
    say(f"{output} holds {files}. {time.perf_counter() - start:.1f} s in all.")
    if page is not None:
        say(f"To look at it: {page}")
    if as_json:
        document({**result_document(record, output, page), "quality": quality, "costs": costs})


def pixel_picture(ranks: dict[int, int], side: int) -> Text:
    """A grid on the terminal: chosen pixels show their rank, the better the brighter; the others are dots.

    >>> print(pixel_picture({0: 2, 3: 1}, side=2))
       2  ·
       ·  1
    """
    picture = Text()
    for pixel in range(side * side):
        if pixel % side == 0:
            picture.append("\n " if pixel else " ")
        rank = ranks.get(pixel)
        if rank is None:
            picture.append("  ·", style="dim")
        else:
            third = 3 * (rank - 1) // len(ranks)
            picture.append(f"{rank:3d}", style=("bold white on blue", "white on blue", "blue")[third])
    return picture


def _keep_other_results(folder: Path, labels: tuple[str, ...]) -> None:
    """Refuse to replace anything but an earlier demo."""
    earlier = folder / JSON
    if not earlier.exists() or read_selection(earlier).get("labels") != list(labels):
        refuse_to_overwrite(folder, "It is no earlier demo; choose another --out.")


def _run(title: str, method: Method, labeled: Labeled, sites: dict[str, ArrayTable]) -> TimedRun:
    say(Text.assemble("\n", (title, "bold")))
    began = time.perf_counter()
    with Rounds() as rounds:
        outcome = in_process.select(method, labeled, sites, rounds.watch)
    seconds = time.perf_counter() - began
    return TimedRun(method, outcome, shift_record(shift_of_tables(method, labeled, sites)), seconds)


def _quality(digits: Dataset, server: Int, clients: Int, chosen: dict[str, Int], seed: int) -> list[dict[str, Any]]:
    """How well ML-kNN, trained on the server's rows, predicts the clients' labels from the chosen pixels."""
    from fedsieve.learning import MLkNN, metrics

    def precision(pixels: Int) -> float:
        model = MLkNN().fit(digits.X[np.ix_(server, pixels)], digits.Y[server])
        return metrics.average_precision(digits.Y[clients], model.predict_proba(digits.X[np.ix_(clients, pixels)]))

    n_pixels, k = digits.X.shape[1], len(next(iter(chosen.values())))
    rng = np.random.default_rng(seed)
    draws = [precision(rng.choice(n_pixels, k, replace=False)) for _ in range(N_DRAWS)]
    by_methods = [
        {"pixels": f"{len(pixels)} by {name}", "average_precision": precision(pixels), "deviation": None}
        for name, pixels in chosen.items()
    ]
    at_random = {"average_precision": float(np.mean(draws)), "deviation": float(np.std(draws))}
    everything = {"average_precision": precision(np.arange(n_pixels)), "deviation": None}
    return [*by_methods, {"pixels": f"{k} at random", **at_random}, {"pixels": f"all {n_pixels}", **everything}]


def _quality_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="ML-kNN on the clients' labels", title_justify="left")
    table.add_column("pixels")
    table.add_column("average precision", justify="right")
    for row in rows:
        spread = "" if row["deviation"] is None else f" ± {row['deviation']:.3f}"
        table.add_row(row["pixels"], f"{row['average_precision']:.3f}{spread}")
    return table


def _costs(runs: dict[str, TimedRun], sites: dict[str, ArrayTable]) -> list[dict[str, Any]]:
    """What each method took, and last what the rows themselves would."""
    raw = sum(site.whole(site.names).nbytes for site in sites.values())
    costs: list[dict[str, Any]] = []
    for name, run in runs.items():
        sent = sum(message.n_bytes for message in run.outcome.transcript if message.sender != SERVER)
        rounds = run.outcome.transcript[-1].round
        costs.append({"method": name, "rounds": rounds, "bytes": sent, "share": sent / raw, "seconds": run.seconds})
    return [*costs, {"method": "raw rows", "rounds": None, "bytes": raw, "share": 1.0, "seconds": None}]


def _cost_table(costs: list[dict[str, Any]]) -> Table:
    table = Table(title="What left the ten clients", title_justify="left")
    for name in ("method", "rounds", "bytes sent", "of the raw rows", "seconds"):
        table.add_column(name, justify="left" if name == "method" else "right")
    for row in costs:
        rounds = "-" if row["rounds"] is None else str(row["rounds"])
        seconds = "-" if row["seconds"] is None else f"{row['seconds']:.2f}"
        table.add_row(row["method"], rounds, size(row["bytes"]), _share(row["share"]), seconds)
    return table


def _share(ratio: float) -> str:
    return f"{ratio:.0%}" if ratio < 10 else f"{ratio:.0f} times"


def _agreement(outcomes: list[Outcome]) -> str:
    reference, *rest = (outcome.selection for outcome in outcomes)
    same = all(np.array_equal(reference.order, other.order) for other in rest)
    order = "the same order" if same else "DIFFERENT orders"
    difference = max(float(np.abs(other.scores - reference.scores).max()) for other in rest)
    return f"The three wire forms give {order}; scores differ by at most {difference:.1e}."


def _draw(digits: Dataset, ranks: dict[str, dict[int, int]], folder: Path) -> list[str]:
    """The picture's file name, if it could be drawn; the demo goes on without it."""
    k = len(next(iter(ranks.values())))
    try:
        draw_pixels(digits.X, ranks, folder / PICTURE, f"Handwritten digits: {k} of {digits.X.shape[1]} pixels")
    except MissingExtraError as error:
        warn(str(error))
        return []
    return [PICTURE]

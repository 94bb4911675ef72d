"""`fedsieve demo`: ten unlike sites and a server choose pixels of handwritten digits, in all three wire forms."""

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from fedsieve.arrays import Float
from fedsieve.cli.console import out, say, size, warn
from fedsieve.cli.pixels import pixel_picture
from fedsieve.cli.progress import Rounds, prepare_kernels
from fedsieve.cli.ranking import ranking_table
from fedsieve.datasets import load_digits, partition
from fedsieve.datasets.digits import SIDE
from fedsieve.errors import MissingExtraError
from fedsieve.protocol import SERVER, Labelled, Site, SSFMLFSPlan
from fedsieve.report.pixels import draw_pixels
from fedsieve.report.selection_file import (
    CSV,
    JSON,
    read_selection,
    refuse_to_overwrite,
    write_selection,
)
from fedsieve.runtimes import in_process
from fedsieve.runtimes.driver import Outcome
from fedsieve.runtimes.record import selection_record

EXAMPLE = """Choose pixels of handwritten digits with ten sites, offline, in seconds.

[bold]Example[/bold]: fedsieve demo --out demo-result

1797 images, 64 pixels, eight labels such as "prime" or "closed_loop". A fifth
of the rows is labelled and lies on the server; ten clients hold the others,
unlabelled and unevenly spread (Dirichlet 0.5). Replaces an earlier demo."""

N_CLIENTS, ALPHA, LABELLED = 10, 0.5, 0.2
PICTURE = "pixels.png"


def demo(
    output: Annotated[Path, typer.Option("--out", help="Folder for the result and the picture.")] = Path("demo-result"),
    k: Annotated[
        int | None, typer.Option("-k", help="How many pixels to choose; default by the number of features.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split over server and clients.")] = 0,
) -> None:
    """Run the demo; the help text is EXAMPLE."""
    start = time.perf_counter()
    digits = load_digits()
    _keep_other_results(output, digits.label_names)
    labelled_rows, others = partition.labelled_split(digits.Y, LABELLED, seed)
    parts = [others[part] for part in partition.dirichlet(digits.Y[others], N_CLIENTS, ALPHA, seed)]
    sites = {f"site-{i:02d}": Site(digits.feature_names, digits.X[rows]) for i, rows in enumerate(parts, start=1)}
    labelled = Labelled(digits.X[labelled_rows], digits.Y[labelled_rows].astype(np.float64))
    say(f"Handwritten digits: {len(digits.X)} rows, {SIDE * SIDE} pixels, labels {', '.join(digits.label_names)}.")
    sizes = ", ".join(str(len(rows)) for rows in parts)
    say(f"Server: {len(labelled_rows)} labelled rows. Clients: {sizes} unlabelled rows.")
    prepare_kernels()

    outcomes, seconds = {}, {}
    for wire in ("statistics", "vectors", "matrices"):
        plan = SSFMLFSPlan(digits.feature_names, n_features_to_select=k, wire=wire)
        say(Text.assemble("\nSSFMLFS, wire form ", (wire, "bold")))
        began = time.perf_counter()
        with Rounds() as rounds:
            outcomes[wire] = in_process.select(plan, labelled, sites, rounds.watch)
        seconds[wire] = time.perf_counter() - began

    plan = SSFMLFSPlan(digits.feature_names, n_features_to_select=k, wire="statistics")
    record = selection_record(plan, outcomes["statistics"], list(digits.label_names), seed=seed)
    write_selection(record, output)
    ranks = {int(pixel): rank for rank, pixel in enumerate(outcomes["statistics"].selection.order[: plan.k], start=1)}
    say(f"\nThe {plan.k} chosen pixels of {SIDE} x {SIDE}, with their rank (1 is best):\n")
    out.print(pixel_picture(ranks, SIDE))
    say("")
    out.print(ranking_table(record, 10))
    out.print(_cost_table(outcomes, seconds, sum(X.X.nbytes for X in sites.values())))
    say(_agreement(outcomes))
    files = ", ".join([JSON, CSV, *_draw(digits.X, ranks, output)])
    say(f"{output} holds {files}. {time.perf_counter() - start:.1f} s in all.")


demo.__doc__ = EXAMPLE


def _keep_other_results(folder: Path, labels: tuple[str, ...]) -> None:
    """An earlier demo may be replaced, anything else is kept."""
    earlier = folder / JSON
    if not earlier.exists() or read_selection(earlier).get("labels") != list(labels):
        refuse_to_overwrite(folder, "It is no earlier demo; choose another --out.")


def _cost_table(outcomes: dict[str, Outcome], seconds: dict[str, float], raw: int) -> Table:
    table = Table(title="What left the ten clients", title_justify="left")
    for name in ("wire form", "rounds", "bytes sent", "of the raw rows", "seconds"):
        table.add_column(name, justify="left" if name == "wire form" else "right")
    for wire, outcome in outcomes.items():
        sent = sum(entry.n_bytes for entry in outcome.transcript if entry.sender != SERVER)
        rounds = outcome.transcript[-1].round
        table.add_row(wire, str(rounds), size(sent), _share(sent / raw), f"{seconds[wire]:.2f}")
    table.add_row("raw rows", "-", size(raw), "100%", "-")
    return table


def _share(ratio: float) -> str:
    return f"{ratio:.0%}" if ratio < 10 else f"{ratio:.0f} times"


def _agreement(outcomes: dict[str, Outcome]) -> str:
    reference, *rest = (outcome.selection for outcome in outcomes.values())
    same = all(np.array_equal(reference.order, other.order) for other in rest)
    order = "the same order" if same else "DIFFERENT orders"
    difference = max(float(np.abs(other.scores - reference.scores).max()) for other in rest)
    return f"The three wire forms give {order}; scores differ by at most {difference:.1e}."


def _draw(images: Float, ranks: dict[int, int], folder: Path) -> list[str]:
    """The picture's file name, if it could be drawn; the demo goes on without it."""
    title = f"SSFMLFS on handwritten digits: {len(ranks)} of {images.shape[1]} pixels"
    try:
        draw_pixels(images, ranks, folder / PICTURE, title)
    except MissingExtraError as error:
        warn(str(error))
        return []
    return [PICTURE]

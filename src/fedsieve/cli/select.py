"""`fedsieve select`: files in, a selection out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fedsieve.cli.console import out, say, warn
from fedsieve.cli.progress import Rounds, prepare_kernels
from fedsieve.cli.ranking import cost_line, ranking_table
from fedsieve.cli.sites import declared_ranges, leaks, read_sites
from fedsieve.protocol import SSFMLFSPlan
from fedsieve.report.selection_file import refuse_to_overwrite, write_selection
from fedsieve.runtimes import in_process
from fedsieve.runtimes.record import selection_record

EXAMPLE = """Rank features from files: one with labelled rows, two or more with unlabelled rows.

[bold]Example[/bold]: fedsieve select --labeled server.csv --labels prefix:label_ \\
--client siteA.parquet --client siteB.csv -k 30 --out result/

Columns are matched by name. Writes ranking.csv and selection.json (order,
scores, relevance, radius, parameters, versions, transcript)."""


def select(
    labeled: Annotated[Path, typer.Option(help="The server's labelled rows, CSV or Parquet.")],
    labels: Annotated[str, typer.Option(help='Label columns: "y1,y2", "prefix:label_" or a Mulan XML file.')],
    client: Annotated[list[str], typer.Option(help="A client's rows: FILE, or NAME=FILE. Give at least two.")],
    output: Annotated[Path, typer.Option("--out", help="Folder for the result.")],
    k: Annotated[int | None, typer.Option("-k", help="How many features to select; default by their number.")] = None,
    shared: Annotated[bool, typer.Option(help="Use the features that all files share instead of refusing.")] = False,
    wire: Annotated[str, typer.Option(help="auto, matrices, statistics or vectors.")] = "auto",
    relation: Annotated[str, typer.Option(help="distance (the paper) or similarity.")] = "distance",
    irrelevant: Annotated[str, typer.Option(help="least or nonnegative.")] = "least",
    decisions: Annotated[str, typer.Option(help="crisp or soft.")] = "crisp",
    ranges: Annotated[str, typer.Option(help="federated, local, or a CSV file: feature,low,high.")] = "federated",
    spread: Annotated[str, typer.Option(help="pooled or mean.")] = "pooled",
    missing: Annotated[str, typer.Option(help="error or unrelated.")] = "error",
    constant: Annotated[str, typer.Option(help="last or keep.")] = "last",
    nominal: Annotated[str, typer.Option(help="Features whose values are codes: a,b,c.")] = "",
    lam: Annotated[float, typer.Option(help="Radius = deviation / lam; 0.4 to 2.")] = 1.2,
    neighbors: Annotated[int, typer.Option(help="Rows with unlike labels per labelled row.")] = 3,
    damping: Annotated[float, typer.Option(help="Share of a score that comes along the edges.")] = 0.85,
    on_bad_client: Annotated[str, typer.Option(help="raise or drop.")] = "raise",
    force: Annotated[bool, typer.Option(help="Replace an existing result.")] = False,
) -> None:
    """Rank features from files; the help text is EXAMPLE."""
    if not force:
        refuse_to_overwrite(output)
    data = read_sites(labeled, labels, client, shared=shared)
    for feature, label in leaks(data):
        warn(f"feature {feature!r} is identical to label {label!r} on the labelled rows: a label among the features?")
    plan = SSFMLFSPlan(
        data.features,
        n_features_to_select=k,
        lam=lam,
        n_neighbors=neighbors,
        damping=damping,
        relation=relation,
        irrelevant=irrelevant,
        decisions=decisions,
        ranges=declared_ranges(ranges),
        spread=spread,
        wire=wire,
        missing=missing,
        constant=constant,
        nominal=tuple(name.strip() for name in nominal.split(",") if name.strip()),
        on_bad_client=on_bad_client,
    )
    prepare_kernels()
    with Rounds() as rounds:
        outcome = in_process.select(plan, data.labelled, data.sites, rounds.watch)
    record = selection_record(plan, outcome, list(data.labels))
    write_selection(record, output)
    _show(record, output)


select.__doc__ = EXAMPLE


def _show(record: dict[str, Any], output: Path) -> None:
    for name, reason in record["dropped"].items():
        warn(f"went on without client {name!r}: {reason}")
    for site, n_clipped in record["n_clipped"].items():
        if n_clipped:
            warn(f"{n_clipped} values of {site!r} lay outside the declared ranges and were clipped.")
    out.print(ranking_table(record, min(10, len(record["selected"]))))
    say(cost_line(record))
    say(f"Selected {len(record['selected'])} features; the result is in {output}.")

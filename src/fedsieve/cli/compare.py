"""`fedsieve compare`: two selections beside each other, as tables or as JSON."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fedsieve.cli.console import out, say
from fedsieve.cli.speech import AsJson, document
from fedsieve.errors import listed
from fedsieve.experiments.two_selections import compare_selections
from fedsieve.selection_file import read_selection

N_MOVED = 5  # features whose ranks moved most, of those that both choose or neither


def compare(
    first: Annotated[Path, typer.Argument(help="A selection.json, or the folder of a result.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Another one.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Compare two selections: what both choose, what entered and left, how ranks moved.

    [bold]Example[/bold]: fedsieve compare result/ result-with-siteD/

    Selections over unlike features are compared on those that both rank, and ranks
    are counted among these.
    """
    records = [read_selection(path, whole=True) for path in (first, second)]
    found = compare_selections(*records)
    if as_json:
        document({"first": str(first), "second": str(second), **found})
        return
    _show(found, str(first), str(second))


def _show(found: dict[str, Any], first: str, second: str) -> None:
    say(f"First: {first} ({found['methods'][0]}). Second: {second} ({found['methods'][1]}).")
    only = [name for key in ("only_in_first", "only_in_second") for name in found[key]]
    if only:
        say(
            f"Compared on the {found['n_common']} features that both rank; not in both: {listed(only)}. "
            "Ranks are among the common ones."
        )
    n_first, n_second = found["n_selected"]
    by_chance = f"by chance {found['overlap_by_chance']:.1f}"
    jaccard = "" if found["jaccard"] is None else f", Jaccard {found['jaccard']:.2f}"
    say(f"The first selects {n_first}, the second {n_second}; both select {found['overlap']} ({by_chance}{jaccard}).")
    if found["kendall"] is not None:
        say(f"Agreement of all ranks: Kendall {found['kendall']:.2f}, Spearman {found['spearman']:.2f}.")
    table = Table(title="Best k of each", title_justify="left")
    for title in ("k", "in both", "Jaccard"):
        table.add_column(title, justify="right")
    for row in found["overlap_at"]:
        table.add_row(str(row["k"]), str(row["overlap"]), f"{row['jaccard']:.2f}")
    out.print(table)
    ranks = {row["feature"]: row for row in found["features"]}
    changes = [("entered", found["entered"]), ("left", found["left"])]
    stayed = [row for row in found["features"] if row["feature"] not in {*found["entered"], *found["left"]}]
    moved = sorted((row for row in stayed if row["moved"]), key=lambda row: -abs(row["moved"]))[:N_MOVED]
    rows = [(what, ranks[name]) for what, names in changes for name in names] + [("moved", row) for row in moved]
    if not rows:
        say("No feature entered or left, and no rank moved.")
        return
    table = Table(title="What changed", title_justify="left")
    for title in ("", "feature", "rank in first", "in second"):
        table.add_column(title, justify="right" if "in " in title else "left", overflow="fold")
    for what, row in rows:
        table.add_row(what, row["feature"], str(row["first"]), str(row["second"]))
    out.print(table)

"""`fedsieve datasets`: the known datasets, what is in a dataset, and their files."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsieve.cli.console import out, say, warn
from fedsieve.cli.options import split_names
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets import Dataset, Description, available, describe, load
from fedsieve.datasets.arff import arff_dataset
from fedsieve.datasets.fetch import fetch as fetch_files
from fedsieve.datasets.fetch import locate
from fedsieve.datasets.registry import known_dataset
from fedsieve.datasets.table_files import SUFFIXES
from fedsieve.datasets.tables import table_dataset
from fedsieve.errors import ParameterError

LISTED = ("name", "domain", "n_samples", "n_features", "n_labels", "k", "split", "at_hand")

app = typer.Typer(
    help="The five datasets of the paper, and what is in a dataset.\n\n"
    "[bold]Example[/bold]: fedsieve datasets info yeast",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the known datasets, with the number k of features that the paper selects.

    [bold]Example[/bold]: fedsieve datasets list
    """
    found = [{**asdict(known_dataset(name)), "at_hand": all(locate(name).values())} for name in available()]
    if as_json:
        document([{key: value for key, value in one.items() if key in LISTED} for one in found])
        return
    table = Table(title="Datasets of the paper", title_justify="left")
    for name in ("name", "domain", "rows", "features", "labels", "k", "train/test", "at hand"):
        table.add_column(name, justify="left" if name in ("name", "domain", "at hand") else "right")
    for known in map(known_dataset, available()):
        numbers = (known.n_samples, known.n_features, known.n_labels, known.k)
        split = f"{known.split[0]}/{known.split[1]}" if known.split else "-"
        at_hand = "yes" if all(locate(known.name).values()) else "no"
        table.add_row(known.name, known.domain, *(str(number) for number in numbers), split, at_hand)
    out.print(table)


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="A known dataset, or a file: .arff, .csv, .parquet.")],
    labels: Annotated[
        str | None, typer.Option(help='Label columns of a file: "y1,y2", "prefix:label_" or a Mulan XML file.')
    ] = None,
    drop: Annotated[str, typer.Option(help="Columns of a file that are no features, such as an ID: a,b.")] = "",
    as_json: AsJson = False,
) -> None:
    """Describe a known dataset, or a file of your own.

    [bold]Example[/bold]: fedsieve datasets info yeast

    [bold]Example[/bold]: fedsieve datasets info patients.csv --labels prefix:label_ --drop id

    Files of a known dataset are downloaded where they are not at hand. Of a
    file of your own (.arff, .csv, .parquet) the labels are those of the Mulan
    XML file with the same stem beside it, or those of MEKA's "-C n", unless
    --labels is given.
    """
    description = describe(_dataset(name, labels, split_names(drop)))
    if as_json:
        document(asdict(description))
        return
    table = Table(title=description.name, title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for what, value in _facts(description).items():
        table.add_row(what, value)
    out.print(table)
    for file in description.files:
        say(file)
    for finding in description.findings:
        warn(finding)


@app.command("fetch")
def fetch(names: Annotated[list[str] | None, typer.Argument(help="Which ones; all by default.")] = None) -> None:
    """Download datasets for later use, all five by default.

    [bold]Example[/bold]: fedsieve datasets fetch yeast emotions

    Files that lie in the folder FEDSIEVE_DATA, or were downloaded before, are
    only checked (SHA-256). FEDSIEVE_DATA_URL replaces the address to download
    from.
    """
    chosen = [known_dataset(name) for name in names or available()]  # an unknown name stops before the first download
    for known in chosen:
        before = locate(known.name)
        for file, path in fetch_files(known.name).items():
            say(f"{known.name}: {path} ({'downloaded' if before[file] is None else 'was at hand'}, checked)")


def _dataset(name: str, labels: str | None, drop: Sequence[str]) -> Dataset:
    path = Path(name)
    if path.suffix.lower() == ".arff":
        return arff_dataset(path, labels, drop)
    if path.name.lower().endswith(SUFFIXES):
        return table_dataset(path, labels, drop)
    known = known_dataset(name)
    if labels or drop:
        raise ParameterError(f"--labels and --drop are for files of your own; the columns of {known.name!r} are known.")
    return load(known.name)


def _facts(data: Description) -> dict[str, str]:
    kinds = {kind: number for kind, number in data.kinds.items() if number}
    features = ", ".join(f"{number if len(kinds) > 1 else 'all'} {kind}" for kind, number in kinds.items())
    known = known_dataset(data.name) if data.source else None
    facts = {
        "rows": str(data.n_samples),
        "features": f"{data.n_features} ({features})",
        "labels": f"{data.n_labels}" + (f" ({data.empty_labels} without a positive row)" if data.empty_labels else ""),
        "labels per row": f"{data.cardinality:.3f} on average (cardinality); {data.bare_rows} rows have none",
        "label density": f"{data.density:.4f}",
        "distinct label sets": str(data.label_sets),
        "official split": f"{data.split[0]} train, {data.split[1]} test rows" if data.split else "none",
        "stored": f"{'sparse' if data.is_sparse else 'dense'}, {data.nonzero:.1%} of the values are not 0",
        "missing values": str(data.missing),
    }
    if known:
        facts |= {"domain": known.domain, "selected in the paper": f"{known.k} features", "source": data.source}
    return facts

"""`fedsieve datasets`: the known datasets, what is in a dataset, and their files."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsieve.cli.console import out, say, warn
from fedsieve.datasets import Dataset, Description, available, describe, load
from fedsieve.datasets.arff import arff_dataset
from fedsieve.datasets.fetch import fetch as fetch_files
from fedsieve.datasets.fetch import locate
from fedsieve.datasets.files import SUFFIXES
from fedsieve.datasets.registry import entry
from fedsieve.datasets.tables import table_dataset
from fedsieve.errors import ParameterError

app = typer.Typer(
    help="The five datasets of the paper, and what is in a dataset.\n\n"
    "[bold]Example[/bold]: fedsieve datasets info yeast",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

LIST = """List the known datasets, with the number k of features that the paper selects.

[bold]Example[/bold]: fedsieve datasets list"""

INFO = """Describe a known dataset, or a file of your own.

[bold]Example[/bold]: fedsieve datasets info yeast

[bold]Example[/bold]: fedsieve datasets info patients.csv --labels prefix:label_ --drop id

Files of a known dataset are downloaded where they are not at hand. Of a
file of your own (.arff, .csv, .parquet) the labels are those of the Mulan
XML file with the same stem beside it, or those of MEKA's "-C n", unless
--labels is given."""

FETCH = """Download datasets for later use, all five by default.

[bold]Example[/bold]: fedsieve datasets fetch yeast emotions

Files that lie in the folder FEDSIEVE_DATA, or were downloaded before, are
only checked (SHA-256). FEDSIEVE_DATA_URL replaces the address to download
from."""


@app.command("list")
def list_() -> None:
    """List them; the help text is LIST."""
    table = Table(title="Datasets of the paper", title_justify="left")
    for name in ("name", "domain", "rows", "features", "labels", "k", "train/test", "at hand"):
        table.add_column(name, justify="left" if name in ("name", "domain", "at hand") else "right")
    for known in map(entry, available()):
        numbers = (known.n_samples, known.n_features, known.n_labels, known.k)
        split = f"{known.split[0]}/{known.split[1]}" if known.split else "-"
        at_hand = "yes" if all(locate(known.name).values()) else "no"
        table.add_row(known.name, known.domain, *(str(number) for number in numbers), split, at_hand)
    out.print(table)


list_.__doc__ = LIST


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="A known dataset, or a file: .arff, .csv, .parquet.")],
    labels: Annotated[
        str | None, typer.Option(help='Label columns of a file: "y1,y2", "prefix:label_" or a Mulan XML file.')
    ] = None,
    drop: Annotated[str, typer.Option(help="Columns of a file that are no features, such as an ID: a,b.")] = "",
) -> None:
    """Describe one; the help text is INFO."""
    dropped = [part.strip() for part in drop.split(",") if part.strip()]
    description = describe(_dataset(name, labels, dropped))
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


info.__doc__ = INFO


@app.command("fetch")
def fetch(names: Annotated[list[str] | None, typer.Argument(help="Which ones; all by default.")] = None) -> None:
    """Download some; the help text is FETCH."""
    for known in [entry(name) for name in names or available()]:  # an unknown name stops before the first download
        before = locate(known.name)
        for file, path in fetch_files(known.name).items():
            say(f"{known.name}: {path} ({'downloaded' if before[file] is None else 'was at hand'}, checked)")


fetch.__doc__ = FETCH


def _dataset(name: str, labels: str | None, drop: list[str]) -> Dataset:
    path = Path(name)
    if path.suffix.lower() == ".arff":
        return arff_dataset(path, labels, drop)
    if path.suffix.lower() in SUFFIXES:
        return table_dataset(path, labels, drop)
    known = entry(name)
    if labels or drop:
        raise ParameterError(f"--labels and --drop are for files of your own; the columns of {known.name!r} are known.")
    return load(known.name)


def _facts(of: Description) -> dict[str, str]:
    kinds = {kind: number for kind, number in of.kinds.items() if number}
    of_kinds = ", ".join(f"{number if len(kinds) > 1 else 'all'} {kind}" for kind, number in kinds.items())
    known = entry(of.name) if of.source else None
    facts = {
        "rows": str(of.n_samples),
        "features": f"{of.n_features} ({of_kinds})",
        "labels": f"{of.n_labels}" + (f" ({of.empty_labels} without a positive row)" if of.empty_labels else ""),
        "labels per row": f"{of.cardinality:.3f} on average (cardinality); {of.bare_rows} rows have none",
        "label density": f"{of.density:.4f}",
        "distinct label sets": str(of.label_sets),
        "official split": f"{of.split[0]} train, {of.split[1]} test rows" if of.split else "none",
        "stored": f"{'sparse' if of.is_sparse else 'dense'}, {of.nonzero:.1%} of the values are not 0",
        "missing values": str(of.missing),
    }
    if known:
        facts |= {"domain": known.domain, "selected in the paper": f"{known.k} features", "source": of.source}
    return facts

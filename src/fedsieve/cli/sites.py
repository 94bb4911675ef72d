"""From file names on the command line to a federation's tables, with every mismatch named."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.arrays import Int
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.files import SUFFIXES, numeric_columns, read_table
from fedsieve.datasets.findings import label_leaks
from fedsieve.datasets.label_columns import label_columns, zero_or_one
from fedsieve.errors import DataError, ParameterError, columns_differ, listed
from fedsieve.protocol import Labeled, Site
from fedsieve.selectors.labels import read_labels


@dataclass(frozen=True, eq=False)
class Files:
    """What was read: common features, labels, the labeled rows, and one site per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]
    Y: Int  # (n_samples, n_labels) as in the file; `labeled.Y` has a second column where there is one label only
    labeled: Labeled
    sites: dict[str, Site]


def read_sites(labeled: Path, labels: str, clients: Sequence[str], *, shared: bool) -> Files:
    """Read all files and match their columns by name."""
    paths = _client_paths(clients)
    server = read_table(labeled)
    label_names = label_columns(labels, server.column_names)
    features = [name for name in server.column_names if name not in label_names]
    tables = {name: read_table(path) for name, path in paths.items()}
    features = _common(features, label_names, tables, paths, shared)
    Y = zero_or_one(numeric_columns(server, label_names, f"{labeled}, labels"), label_names, str(labeled))
    return Files(
        features=tuple(features),
        labels=tuple(label_names),
        Y=Y,
        labeled=Labeled(numeric_columns(server, features, str(labeled)), read_labels(Y)[0]),
        sites={
            name: Site(tuple(features), numeric_columns(table, features, str(paths[name])))
            for name, table in tables.items()
        },
    )


def leaks(data: Files) -> list[tuple[str, str]]:
    """Features that are identical to a label on the labeled rows."""
    return label_leaks(Dataset("the labeled rows", data.labeled.X, data.Y, data.features, data.labels))


def declared_ranges(choice: str) -> Any:
    """The `ranges` parameter from the command line: a word, or a CSV file with feature, low and high."""
    if choice in ("federated", "local"):
        return choice
    if not choice.lower().endswith(SUFFIXES):
        raise ParameterError(
            f"--ranges must be federated, local or a CSV file with the columns feature, low, high; got {choice!r}."
        )
    table = read_table(choice)
    if table.column_names[:3] != ["feature", "low", "high"]:
        raise DataError(f"{choice}: needs the columns feature, low, high; got {listed(table.column_names)}.")
    names = [str(name) for name in table["feature"].to_pylist()]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"{choice}: declares {listed(twice)} twice.")
    low, high = numeric_columns(table, ["low", "high"], choice).T
    return {name: (float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)}


def _client_paths(clients: Sequence[str]) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for entry in clients:
        name, equals, path = entry.partition("=")
        if not equals or Path(entry).is_file():  # a file may have "=" in its path
            name, path = Path(entry).stem, entry
        if not name or not path:
            raise ParameterError(f"--client takes FILE or NAME=FILE; got {entry!r}.")
        file = Path(path)
        if name in paths:
            raise ParameterError(
                f"two clients are called {name!r} ({paths[name]}, {file}). Name them: --client NAME=FILE."
            )
        paths[name] = file
    if len(paths) < 2:
        raise ParameterError(f"a federation needs at least two clients; got {len(paths)}. Give --client twice or more.")
    return paths


def _common(
    features: list[str], labels: list[str], tables: dict[str, Any], paths: dict[str, Path], shared: bool
) -> list[str]:
    for name, table in tables.items():
        columns = table.column_names
        missing = [feature for feature in features if feature not in columns]
        extra = [column for column in columns if column not in features]
        if len(missing) == len(features):
            raise DataError(
                f"client {name!r} ({paths[name]}) shares no feature with the labeled rows: it has {listed(columns)}, "
                f"they have {listed(features) if features else 'only labels'}."
            )
        if (missing or extra) and not shared:
            way_out = "Give every site the same columns, or use --shared to work with those that all have."
            raise columns_differ(f"client {name!r} ({paths[name]})", missing, extra, way_out)
    common = [feature for feature in features if all(feature in table.column_names for table in tables.values())]
    if not common:
        raise DataError(f"no feature is in all files; labels are {listed(labels)}, the server has {listed(features)}.")
    return common

"""Tables that the command line reads, with every mismatch of their columns named.

`select` has the files of all parties; a party of a federation has its own, and an agreement to check it against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.checks import names_that_differ
from fedsieve.cli.console import say
from fedsieve.datasets.columns import label_columns, zero_or_one
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import label_leaks
from fedsieve.datasets.tables import numeric_columns, read_table
from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import DataError, ParameterError, columns_differ, listed
from fedsieve.privacy import LEAST_ROWS
from fedsieve.protocol import Labeled
from fedsieve.selectors.inputs import read_labels
from fedsieve.tables import ArrayTable, check_values


@dataclass(frozen=True, eq=False)
class FederationTables:
    """All that `select` reads: the common features, the labels, the labeled rows, and one site per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]
    Y: Int  # (n_samples, n_labels) as in the file; `labeled.Y` has a second column where there is one label only
    labeled: Labeled
    sites: dict[str, ArrayTable]


def read_sites(labeled: Path, labels: str, clients: Sequence[str], *, shared: bool) -> FederationTables:
    """Read the server's and all clients' files, and match their columns by name."""
    paths = _client_paths(clients)
    server = read_table(labeled)
    label_names = label_columns(labels, server.column_names)
    features, _ = names_that_differ(server.column_names, label_names)
    tables = {name: read_table(path) for name, path in paths.items()}
    features = _common(features, label_names, tables, paths, shared)
    rows, Y = _labeled_rows(server, features, label_names, labeled)
    return FederationTables(
        features=tuple(features),
        labels=tuple(label_names),
        Y=Y,
        labeled=rows,
        sites={
            name: ArrayTable(tuple(features), numeric_columns(table, features, str(paths[name])))
            for name, table in tables.items()
        },
    )


def labeled_again(file: Path, features: Sequence[str], labels: Sequence[str], *, at_sites: bool = False) -> Labeled:
    """The labeled rows of an earlier run, from its file; `at_sites`: as a method reads labels that sites hold too."""
    server = read_table(file)
    missing, _ = names_that_differ([*features, *labels], server.column_names)
    if missing:
        raise DataError(f"{file}: lacks {listed(missing)}; it must be the file with the labeled rows of the run.")
    rows, Y = _labeled_rows(server, list(features), list(labels), file)
    return Labeled(rows.X, Y.astype(np.float64)) if at_sites else rows


def _labeled_rows(server: Any, features: list[str], labels: list[str], file: Path) -> tuple[Labeled, Int]:
    """The rows with their labels as methods take them, and the labels as they are in the file."""
    Y = zero_or_one(numeric_columns(server, labels, f"{file}, labels"), labels, str(file))
    return Labeled(numeric_columns(server, features, str(file)), read_labels(Y)[0]), Y


def leaks(data: FederationTables) -> list[tuple[str, str]]:
    """Features that are identical to a label on the labeled rows."""
    return label_leaks(Dataset("the labeled rows", data.labeled.X, data.Y, data.features, data.labels))


def features_and_labels(file: Path, labels: str) -> tuple[list[str], list[str]]:
    """The names of a table's features and of its label columns, once it is sure that they hold what can be used."""
    table = read_table(file)
    label_names = label_columns(labels, table.column_names)
    features = names_that_differ(table.column_names, label_names)[0]
    numeric_columns(table, features, str(file))
    zero_or_one(numeric_columns(table, label_names, f"{file}, labels"), label_names, str(file))
    return features, label_names


def read_rows(file: Path, agreement: Agreement) -> tuple[Float, Float | None]:
    """A site's rows in the agreement's columns, and its labels where the method needs them at the sites."""
    method = agreement.method
    X, Y = (
        _rows_and_labels(file, agreement)
        if method.sites_hold_labels
        else (_agreed_columns(file, method.features), None)
    )
    try:
        check_values(X, method.features, method.missing)
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    least = LEAST_ROWS if method.secure else agreement.min_rows  # secure sums count the rows of all sites
    if len(X) < least:
        others = not (method.secure or method.sites_hold_labels)  # which may know no secure sums
        way_out = "Wait for more" + (", or agree on secure sums, where the rows of all sites count" if others else "")
        raise DataError(f"{file}: has {len(X)} rows; the agreement asks for at least {least} (min_rows). {way_out}.")
    if len(X) > method.max_rows:
        raise DataError(
            f"{file}: has {len(X)} rows; the agreement lets a site take part with at most {method.max_rows} "
            "(max_rows). Give fewer rows, or have all parties agree on a larger max_rows."
        )
    return X, Y


def read_labeled(file: Path, agreement: Agreement) -> Labeled:
    """The server's labeled rows in the agreement's columns."""
    X, Y = _rows_and_labels(file, agreement)
    labeled = Labeled(X, Y if agreement.method.sites_hold_labels else read_labels(Y)[0])
    agreement.method.check_labeled(labeled)
    return labeled


def _client_paths(clients: Sequence[str]) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for text in clients:
        name, equals, path = text.partition("=")
        if not equals or Path(text).is_file():  # a file may have "=" in its path
            name, path = Path(text).stem, text
        if not name or not path:
            raise ParameterError(f"--client takes FILE or NAME=FILE; got {text!r}.")
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
        missing, extra = names_that_differ(features, columns)
        if len(missing) == len(features):
            raise DataError(
                f"client {name!r} ({paths[name]}) shares no feature with the labeled rows: it has {listed(columns)}, "
                f"they have {listed(features) if features else 'only labels'}."
            )
        if (missing or extra) and not shared:
            way_out = "Give every site the same columns, or use --shared to work with those that all have."
            raise columns_differ(f"client {name!r} ({paths[name]})", missing, extra, way_out)
    in_all = set(features).intersection(*(table.column_names for table in tables.values()))
    common = [feature for feature in features if feature in in_all]
    if not common:
        raise DataError(f"no feature is in all files; labels are {listed(labels)}, the server has {listed(features)}.")
    return common


def _rows_and_labels(file: Path, agreement: Agreement) -> tuple[Float, Float]:
    values = _agreed_columns(file, [*agreement.method.features, *agreement.labels])
    n_features = len(agreement.method.features)
    Y = zero_or_one(values[:, n_features:], list(agreement.labels), str(file))
    return values[:, :n_features], Y.astype(np.float64)


def _agreed_columns(file: Path, names: Sequence[str]) -> Float:
    table = read_table(file)
    missing, extra = names_that_differ(names, table.column_names)
    if missing:
        raise DataError(
            f"{file}: lacks {listed(missing)} of the {len(names)} columns agreed on (federation.toml); "
            f"it has {listed(table.column_names)}. Columns are matched by name."
        )
    if extra:
        say(f"{file}: {len(extra)} columns that were not agreed on stay unused: {listed(extra, 4)}")
    return numeric_columns(table, list(names), str(file))

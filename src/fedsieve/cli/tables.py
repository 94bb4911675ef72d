"""Tables that the command line reads, all parties' or one by itself, with every mismatch of their columns named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.categories import RARE, Categories, named_like_an_id
from fedsieve.checks import check_known, names_that_differ
from fedsieve.cli.console import say, warn
from fedsieve.cli.labels import read_label_columns
from fedsieve.cli.numbers import as_numbers, as_table, kinds
from fedsieve.cli.options import names_among
from fedsieve.cli.reading import read_and_say, rows_of
from fedsieve.datasets.coding import Coding, Declared, decide, reasons_listed
from fedsieve.datasets.columns import feature_columns, label_columns
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import label_leaks
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.table_files import bare_name
from fedsieve.errors import DataError, ParameterError, columns_differ, listed
from fedsieve.protocol import Labeled
from fedsieve.selectors.labels import read_labels
from fedsieve.tables import Table
from fedsieve.text import counted
from fedsieve.values import dense

KEEP = "--keep NAME"


@dataclass(frozen=True)
class ColumnOptions:
    """What is typed of a table's columns: those that are left out, and what others are; a name may hold commas."""

    drop: str = ""
    nominal: Sequence[str] = ()
    dates: str = ""
    keep: str = ""
    categories: Categories = field(default_factory=dict)

    def dropped(self, known: Sequence[str]) -> tuple[str, ...]:
        """Those that are left out."""
        return names_among([self.drop], known)

    def declared(self, known: Sequence[str]) -> Declared:
        """What others are."""
        dates, nominal, keep = (names_among(texts, known) for texts in ([self.dates], self.nominal, [self.keep]))
        return Declared(dates, nominal, keep, self.categories)


@dataclass(frozen=True, eq=False)
class FederationTables:
    """All that `select` reads: the common features, the labels, the labeled rows, and one site per client."""

    features: tuple[str, ...]
    labels: tuple[str, ...]
    Y: Float  # (n_samples, n_labels) as in the file; `labeled.Y` has a second column where there is one label only
    labeled: Labeled
    sites: dict[str, Table]
    coding: Coding  # of text, dates and ids
    nominal: tuple[str, ...]  # all features that are codes


def read_sites(
    labeled: Path,
    labels: str,
    clients: Sequence[str],
    *,
    shared: bool,
    reading: Reading,
    columns: ColumnOptions,
    partly: bool,
) -> FederationTables:
    """Read the server's and all clients' files, match their columns by name, and make numbers of them.

    With `partly`, single labels may be unknown.
    """
    paths = client_paths(clients)
    server = read_and_say(labeled, reading).table
    label_names = label_columns(labels, server.column_names)
    tables = {name: rows_of(path, reading) for name, path in paths.items()}
    at_clients = {column for table in tables.values() for column in table.column_names}
    drop = columns.dropped([*server.column_names, *at_clients])
    declared = columns.declared(server.column_names)
    here = [name for name in drop if name in server.column_names or name not in at_clients]
    features = feature_columns(server.column_names, label_names, here, str(labeled))

    def may_differ(name: str) -> bool:
        return name in drop or (named_like_an_id(name) and name not in declared.names)

    features = _common(features, label_names, tables, paths, shared, may_differ)
    Y = read_label_columns(server, label_names, labeled, partly=partly)
    files = {str(labeled): server, **{str(paths[name]): table for name, table in tables.items()}}
    found = {file: kinds(table, features) for file, table in files.items()}
    coding = decide(found, features, declared)
    _say_what_becomes(coding, "all rows")
    taken = tuple(filter(coding.has, features))
    rows = {file: as_table(file, table, found[file], taken, coding) for file, table in files.items()}
    X = dense(rows[str(labeled)].whole(taken))
    return FederationTables(
        features=taken,
        labels=tuple(label_names),
        Y=Y,
        labeled=Labeled(X, read_labels(Y, str(labeled), partly=partly)[0]),
        sites={name: rows[str(path)] for name, path in paths.items()},
        coding=coding,
        nominal=coding.nominal(declared.nominal),
    )


def leaks(data: FederationTables) -> list[tuple[str, str]]:
    """Features that are identical to a label on the labeled rows, those in which the label is known."""
    known_alike: dict[bytes, list[int]] = {}  # labels that are known in the same rows
    for place, known in enumerate(~np.isnan(data.Y.T)):
        known_alike.setdefault(known.tobytes(), []).append(place)
    found = []
    for places in known_alike.values():
        rows = ~np.isnan(data.Y[:, places[0]])
        Y, names = data.Y[rows][:, places].astype(np.int64), tuple(data.labels[place] for place in places)
        found += label_leaks(Dataset("the labeled rows", data.labeled.X[rows], Y, data.features, names))
    return found


@dataclass(frozen=True, eq=False)
class OneTable:
    """A table by itself: its features as numbers, its labels, and how text, dates and ids were read."""

    features: list[str]
    labels: list[str]
    X: Float
    Y: Float
    coding: Coding


def read_one(
    file: Path,
    labels: str,
    reading: Reading,
    columns: ColumnOptions,
    *,
    takes_text: bool = True,
    partly: bool = True,
    keep: str = KEEP,
) -> OneTable:
    """A table whose columns decide how all others are read, as the labeled rows do for an agreement."""
    table = read_and_say(file, reading).table
    label_names = label_columns(labels, table.column_names) if labels else []
    features = feature_columns(table.column_names, label_names, columns.dropped(table.column_names), str(file))
    check_known("--categories", "names", columns.categories, features)
    found = kinds(table, features)
    coding = decide({str(file): found}, features, columns.declared(features), takes_text=takes_text)
    _say_what_becomes(coding, "these rows", keep)
    taken = [name for name in features if coding.has(name)]
    Y = read_label_columns(table, label_names, file, partly=partly)
    return OneTable(taken, label_names, as_numbers(str(file), found, table.num_rows, taken, coding), Y, coding)


def client_paths(clients: Sequence[str], option: str = "--client", least: int = 2) -> dict[str, Path]:
    """The file of each client, by its name or that of the file."""
    paths: dict[str, Path] = {}
    for text in clients:
        name, equals, path = text.partition("=")
        if not equals or Path(text).is_file():  # a file may have "=" in its path
            name, path = bare_name(Path(text)), text
        if not name or not path:
            raise ParameterError(f"{option} takes FILE or NAME=FILE; got {text!r}.")
        file = Path(path)
        if name in paths:
            raise ParameterError(
                f"two clients are called {name!r} ({paths[name]}, {file}). Name them: {option} NAME=FILE."
            )
        paths[name] = file
    if len(paths) < least:
        raise ParameterError(f"a federation needs at least two clients; got {len(paths)}. Give --client twice or more.")
    return paths


def _common(
    features: list[str],
    labels: list[str],
    tables: dict[str, Any],
    paths: dict[str, Path],
    shared: bool,
    may_differ: Callable[[str], bool],
) -> list[str]:
    """The features of the labeled rows that all have; ids and what is dropped need not be the same anywhere."""
    for name, table in tables.items():
        missing, extra = names_that_differ(features, table.column_names)
        if len(missing) == len(features):
            raise DataError(
                f"client {name!r} ({paths[name]}) shares no feature with the labeled rows: it has "
                f"{listed(table.column_names)}, they have {listed(features)}."
            )
        missing, extra = ([one for one in names if not may_differ(one)] for names in (missing, extra))
        if missing and not shared:
            way_out = "Give every site the same columns, or use --shared to work with those that all have."
            raise columns_differ(f"client {name!r} ({paths[name]})", missing, extra, way_out)
        if extra:
            which = f"{counted(len(extra), 'column')} not among the labeled rows' features"
            say(f"{paths[name]}: {which}, unused: {listed(extra, 4)}")
    in_all = set(features).intersection(*(table.column_names for table in tables.values()))
    common = [feature for feature in features if feature in in_all]
    if not common:
        raise DataError(f"no feature is in all files; labels are {listed(labels)}, the server has {listed(features)}.")
    if lost := [feature for feature in features if feature not in in_all and not may_differ(feature)]:
        warn(f"--shared: not all files have {listed(lost)}; left out.")
    return common


def _say_what_becomes(coding: Coding, rows: str, keep: str = KEEP) -> None:
    if coding.left_out:
        warn(f"columns are left out: {reasons_listed(coding.left_out)}. If one is a feature, say so: {keep}.")
    if coding.categories:
        told = ", ".join(f"{name!r} ({len(words)})" for name, words in coding.categories.items())
        say(f"Text is read as categories: {told}; a word in fewer than {RARE} of {rows} counts as 'other'.")

"""Tables that the command line reads, with every mismatch of their columns named.

`select` has the files of all parties; a party of a federation has its own, and an agreement to check it against.
"""

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
from fedsieve.cli.options import names_among
from fedsieve.cli.reading import AS_FOUND, read_and_say
from fedsieve.datasets.coding import Coding, Declared, decide, reasons_listed, unknown_words
from fedsieve.datasets.columns import feature_columns, label_columns
from fedsieve.datasets.dataset import Dataset
from fedsieve.datasets.description import label_leaks
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.kinds import Column, arrow_column
from fedsieve.datasets.table_files import bare_name
from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import DataError, ParameterError, columns_differ, listed
from fedsieve.methods import Method
from fedsieve.privacy import LEAST_ROWS
from fedsieve.protocol import Labeled
from fedsieve.selectors.labels import read_labels
from fedsieve.tables import LET_THE_METHOD, ArrayTable, check_values
from fedsieve.text import counted
from fedsieve.transport.totals_file import Totals

KEEP = "--keep NAME"
FILL = "Fill them in, or leave these rows out."


@dataclass(frozen=True)
class Columns:
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
    sites: dict[str, ArrayTable]
    coding: Coding  # of text, dates and ids
    nominal: tuple[str, ...]  # all features that are codes


def read_sites(
    labeled: Path,
    labels: str,
    clients: Sequence[str],
    *,
    shared: bool,
    reading: Reading,
    columns: Columns,
    partly: bool,
) -> FederationTables:
    """Read the server's and all clients' files, match their columns by name, and make numbers of them.

    With `partly`, single labels may be unknown.
    """
    paths = client_paths(clients)
    server = read_and_say(labeled, reading).table
    label_names = label_columns(labels, server.column_names)
    tables = {name: read_and_say(path, reading).table for name, path in paths.items()}
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
    kinds = {file: _kinds(table, features) for file, table in files.items()}
    coding = decide(kinds, features, declared)
    _say_what_becomes(coding, "all rows")
    taken = tuple(filter(coding.has, features))
    X = {file: _numbers(file, kinds[file], table.num_rows, taken, coding) for file, table in files.items()}
    return FederationTables(
        features=taken,
        labels=tuple(label_names),
        Y=Y,
        labeled=Labeled(X[str(labeled)], read_labels(Y, str(labeled), partly=partly)[0]),
        sites={name: ArrayTable(taken, X[str(path)]) for name, path in paths.items()},
        coding=coding,
        nominal=coding.nominal(declared.nominal),
    )


def labeled_again(file: Path, totals: Totals, labels: Sequence[str], reading: Reading) -> Labeled:
    """The labeled rows of an earlier run, from its file, text by the words of then."""
    method, server = totals.method, read_and_say(file, reading).table
    missing, _ = names_that_differ([*method.features, *labels], server.column_names)
    if missing:
        raise DataError(f"{file}: lacks {listed(missing)}; it must be the file with the labeled rows of the run.")
    coding = Coding(dict(totals.words.categories), dates=totals.words.dates)
    X = _numbers(str(file), _kinds(server, method.features), server.num_rows, method.features, coding)
    Y = read_label_columns(server, labels, file, partly=method.takes_unknown_labels)
    return Labeled(X, _as_the_method_has_them(Y, method, file))


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
    columns: Columns,
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
    kinds = _kinds(table, features)
    coding = decide({str(file): kinds}, features, columns.declared(features), takes_text=takes_text)
    _say_what_becomes(coding, "these rows", keep)
    taken = [name for name in features if coding.has(name)]
    Y = read_label_columns(table, label_names, file, partly=partly)
    return OneTable(taken, label_names, _numbers(str(file), kinds, table.num_rows, taken, coding), Y, coding)


def read_rows(file: Path, agreement: Agreement, reading: Reading = AS_FOUND) -> tuple[Float, Float | None]:
    """A site's rows in the agreement's columns, and its labels where the method needs them at the sites."""
    method = agreement.method
    X, held = _agreed_columns(file, agreement.labels if method.sites_hold_labels else (), agreement, reading)
    Y = held if method.sites_hold_labels else None
    try:
        check_values(X, method.features, method.missing, _way_out_of_gaps(method))
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    least = LEAST_ROWS if method.secure else agreement.min_rows  # secure sums count the rows of all sites
    if len(X) < least:
        others = not (method.secure or method.sites_hold_labels)  # which may know no secure sums
        way_out = "Wait for more" + (", or agree on secure sums, where the rows of all sites count" if others else "")
        raise DataError(
            f"{file}: has {counted(len(X), 'row')}; the agreement asks for at least {least} (min_rows). {way_out}."
        )
    if len(X) > method.max_rows:
        raise DataError(
            f"{file}: has {len(X)} rows; the agreement lets a site take part with at most {method.max_rows} "
            "(max_rows). Give fewer rows, or have all parties agree on a larger max_rows."
        )
    return X, Y


def read_labeled(file: Path, agreement: Agreement, reading: Reading = AS_FOUND) -> Labeled:
    """The server's labeled rows in the agreement's columns."""
    X, Y = _agreed_columns(file, agreement.labels, agreement, reading)
    labeled = Labeled(X, _as_the_method_has_them(Y, agreement.method, file))
    try:
        check_values(X, agreement.method.features, agreement.method.missing, _way_out_of_gaps(agreement.method))
    except DataError as error:
        raise DataError(f"{file}: the labeled rows have {error}") from None
    agreement.method.check_labeled(labeled)
    return labeled


def _way_out_of_gaps(method: Method) -> str:
    own = method.choices["missing"][1:]
    return f"{LET_THE_METHOD} What is agreed on: 'federation init' and 'simulate', --missing {own[0]}." if own else FILL


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


def _as_the_method_has_them(Y: Float, method: Method, file: Path) -> Float:
    return Y if method.sites_hold_labels else read_labels(Y, str(file), partly=method.takes_unknown_labels)[0]


def _agreed_columns(file: Path, labels: Sequence[str], agreement: Agreement, reading: Reading) -> tuple[Float, Float]:
    """The agreement's features as numbers, text by its words, and these labels."""
    features = agreement.method.features
    names = [*features, *labels]
    table = read_and_say(file, reading).table
    missing, extra = names_that_differ(names, table.column_names)
    if missing:
        raise DataError(
            f"{file}: lacks {listed(missing)} of the {len(names)} columns agreed on (federation.toml); "
            f"it has {listed(table.column_names)}. Columns are matched by name."
        )
    if extra:
        say(f"{file}: {counted(len(extra), 'column')} not agreed on, unused: {listed(extra, 4)}")
    words = dict(agreement.categories)
    coding = Coding(words, fixed=tuple(words), dates=agreement.dates)
    X = _numbers(str(file), _kinds(table, features), table.num_rows, features, coding)
    return X, read_label_columns(table, list(labels), file, partly=agreement.method.takes_unknown_labels)


def _kinds(table: Any, features: Sequence[str]) -> dict[str, Column]:
    return {name: arrow_column(table.column(name)) for name in features}


def _numbers(file: str, columns: dict[str, Column], n_rows: int, features: Sequence[str], coding: Coding) -> Float:
    """The features as numbers; says how many words count as "other", and never which."""
    X, unknown = np.empty((n_rows, len(features))), {}
    for place, name in enumerate(features):
        X[:, place], n_unknown = coding.numbers(file, name, columns[name], n_rows)
        if n_unknown:
            unknown[name] = n_unknown
    if unknown:
        warn(unknown_words(file, unknown))
    return X


def _say_what_becomes(coding: Coding, rows: str, keep: str = KEEP) -> None:
    if coding.left_out:
        warn(f"columns are left out: {reasons_listed(coding.left_out)}. If one is a feature, say so: {keep}.")
    if coding.categories:
        told = ", ".join(f"{name!r} ({len(words)})" for name, words in coding.categories.items())
        say(f"Text is read as categories: {told}; a word in fewer than {RARE} of {rows} counts as 'other'.")

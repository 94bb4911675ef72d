"""A party's own file, read as an agreement, or an earlier run, has its columns; what does not fit is named."""

from collections.abc import Callable, Sequence
from pathlib import Path

from fedsieve.arrays import Float
from fedsieve.checks import names_that_differ
from fedsieve.cli.console import say
from fedsieve.cli.labels import read_label_columns
from fedsieve.cli.numbers import as_numbers, as_table, kinds
from fedsieve.cli.reading import AS_FOUND, read_and_say, rows_of
from fedsieve.datasets.coding import Coding
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streams import is_large
from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import DataError, listed
from fedsieve.methods import Method
from fedsieve.privacy import LEAST_ROWS
from fedsieve.protocol import Labeled
from fedsieve.selectors.labels import read_labels
from fedsieve.tables import ArrayTable, Table
from fedsieve.text import counted
from fedsieve.transport.totals_file import Totals
from fedsieve.values import LET_THE_METHOD, check_batches, check_values

FILL = "Fill them in, or leave these rows out."


def read_rows(file: Path, agreement: Agreement, reading: Reading = AS_FOUND) -> tuple[Float, Float | None]:
    """A site's rows in the agreement's columns, and its labels where the method needs them at the sites."""
    method = agreement.method
    X, held = _agreed_columns(file, agreement.labels if method.sites_hold_labels else (), agreement, reading)
    Y = held if method.sites_hold_labels else None
    try:
        check_values(X, method.features, method.missing, _way_out_of_gaps(method))
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    _check_number_of_rows(file, len(X), agreement)
    return X, Y


def site_table(file: Path, agreement: Agreement, reading: Reading, store: Callable[[Table], Table]) -> Table:
    """The same as a table; that of a large file is stored as numbers, since every request goes through them.

    Where sites hold labels, all is read at once, whatever its size.
    """
    method = agreement.method
    if method.sites_hold_labels or not is_large(file):
        X, Y = read_rows(file, agreement, reading)
        return ArrayTable(method.features, X, agreement.labels if Y is not None else (), Y)
    stream = rows_of(file, reading)
    _check_number_of_rows(file, stream.num_rows, agreement)
    coding = _agreed_coding(file, stream.column_names, method.features, agreement)
    rows = store(as_table(str(file), stream, kinds(stream, method.features), method.features, coding))
    try:
        check_batches(rows.batches(rows.names), rows.names, method.missing, _way_out_of_gaps(method))
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    return rows


def _check_number_of_rows(file: Path, n_rows: int, agreement: Agreement) -> None:
    method = agreement.method
    least = LEAST_ROWS if method.secure else agreement.min_rows  # secure sums count the rows of all sites
    if n_rows < least:
        others = not (method.secure or method.sites_hold_labels)  # which may know no secure sums
        way_out = "Wait for more" + (", or agree on secure sums, where the rows of all sites count" if others else "")
        raise DataError(
            f"{file}: has {counted(n_rows, 'row')}; the agreement asks for at least {least} (min_rows). {way_out}."
        )
    if n_rows > method.max_rows:
        raise DataError(
            f"{file}: has {n_rows} rows; the agreement lets a site take part with at most {method.max_rows} "
            "(max_rows). Give fewer rows, or have all parties agree on a larger max_rows."
        )


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


def labeled_again(file: Path, totals: Totals, labels: Sequence[str], reading: Reading) -> Labeled:
    """The labeled rows of an earlier run, from its file, text by the words of then."""
    method, server = totals.method, read_and_say(file, reading).table
    missing, _ = names_that_differ([*method.features, *labels], server.column_names)
    if missing:
        raise DataError(f"{file}: lacks {listed(missing)}; it must be the file with the labeled rows of the run.")
    coding = Coding(dict(totals.words.categories), dates=totals.words.dates)
    X = as_numbers(str(file), kinds(server, method.features), server.num_rows, method.features, coding)
    Y = read_label_columns(server, labels, file, partly=method.takes_unknown_labels)
    return Labeled(X, _as_the_method_has_them(Y, method, file))


def _as_the_method_has_them(Y: Float, method: Method, file: Path) -> Float:
    return Y if method.sites_hold_labels else read_labels(Y, str(file), partly=method.takes_unknown_labels)[0]


def _agreed_columns(file: Path, labels: Sequence[str], agreement: Agreement, reading: Reading) -> tuple[Float, Float]:
    """The agreement's features as numbers, text by its words, and these labels."""
    features = agreement.method.features
    table = read_and_say(file, reading).table
    coding = _agreed_coding(file, table.column_names, [*features, *labels], agreement)
    X = as_numbers(str(file), kinds(table, features), table.num_rows, features, coding)
    return X, read_label_columns(table, list(labels), file, partly=agreement.method.takes_unknown_labels)


def _agreed_coding(file: Path, columns: Sequence[str], names: Sequence[str], agreement: Agreement) -> Coding:
    """How the agreement has a file's columns read; they must be there."""
    missing, extra = names_that_differ(names, columns)
    if missing:
        raise DataError(
            f"{file}: lacks {listed(missing)} of the {len(names)} columns agreed on (federation.toml); "
            f"it has {listed(columns)}. Columns are matched by name."
        )
    if unused := [name for name in extra if not (agreement.after["label"] and name in agreement.labels)]:
        say(f"{file}: {counted(len(unused), 'column')} not agreed on, unused: {listed(unused, 4)}")
    words = dict(agreement.categories)
    return Coding(words, fixed=tuple(words), dates=agreement.dates)

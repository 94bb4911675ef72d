"""A party's own table, checked against the agreement before anything is started."""

from collections.abc import Sequence
from pathlib import Path

from fedsieve.arrays import Float
from fedsieve.cli.console import say
from fedsieve.datasets.files import numeric_columns, read_table
from fedsieve.datasets.label_columns import zero_or_one
from fedsieve.errors import DataError, listed
from fedsieve.protocol import Labelled
from fedsieve.protocol.client import check_values
from fedsieve.protocol.server import check_labelled
from fedsieve.runtimes.deployment.agreement import Agreement
from fedsieve.selectors.labels import read_labels


def read_rows(file: Path, agreement: Agreement) -> Float:
    """A site's rows in the agreement's columns, (n_rows, n_features)."""
    X = _columns(file, agreement.plan.features)
    try:
        check_values(X, agreement.plan.features, agreement.plan.missing)
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    if len(X) < agreement.min_rows:
        raise DataError(f"{file}: has {len(X)} rows; the agreement asks for at least {agreement.min_rows} (min_rows).")
    return X


def read_labelled(file: Path, agreement: Agreement) -> Labelled:
    """The server's labelled rows in the agreement's columns."""
    names = [*agreement.plan.features, *agreement.labels]
    values = _columns(file, names)
    n_features = len(agreement.plan.features)
    Y = zero_or_one(values[:, n_features:], list(agreement.labels), str(file))
    labelled = Labelled(values[:, :n_features], read_labels(Y)[0])
    check_labelled(agreement.plan, labelled)
    return labelled


def _columns(file: Path, names: Sequence[str]) -> Float:
    table = read_table(file)
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise DataError(
            f"{file}: lacks {listed(missing)} of the {len(names)} columns agreed on (federation.toml); "
            f"it has {listed(table.column_names)}. Columns are matched by name."
        )
    extra = [name for name in table.column_names if name not in set(names)]
    if extra:
        say(f"{file}: {len(extra)} columns that were not agreed on stay unused: {listed(extra, 4)}")
    return numeric_columns(table, list(names), str(file))

"""A party's own table, checked against the agreement before anything is started."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float
from fedsieve.cli.console import say
from fedsieve.datasets.files import numeric_columns, read_table
from fedsieve.datasets.label_columns import zero_or_one
from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import DataError, listed
from fedsieve.protocol import Labeled
from fedsieve.protocol.site import check_values
from fedsieve.selectors.labels import read_labels


def read_rows(file: Path, agreement: Agreement) -> tuple[Float, Float | None]:
    """A site's rows in the agreement's columns, and its labels where the method needs them at the sites."""
    plan = agreement.plan
    X, Y = _rows_and_labels(file, agreement) if plan.labeled_sites else (_columns(file, plan.features), None)
    try:
        check_values(X, plan.features, plan.missing)
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    if len(X) < agreement.min_rows:
        raise DataError(f"{file}: has {len(X)} rows; the agreement asks for at least {agreement.min_rows} (min_rows).")
    return X, Y


def read_labeled(file: Path, agreement: Agreement) -> Labeled:
    """The server's labeled rows in the agreement's columns."""
    X, Y = _rows_and_labels(file, agreement)
    labeled = Labeled(X, Y if agreement.plan.labeled_sites else read_labels(Y)[0])
    agreement.plan.check_labeled(labeled)
    return labeled


def _rows_and_labels(file: Path, agreement: Agreement) -> tuple[Float, Float]:
    values = _columns(file, [*agreement.plan.features, *agreement.labels])
    n_features = len(agreement.plan.features)
    Y = zero_or_one(values[:, n_features:], list(agreement.labels), str(file))
    return values[:, :n_features], Y.astype(np.float64)


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

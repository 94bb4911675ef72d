"""Label columns of a file: 0 and 1, and an empty cell for a label that nobody knows, where the method takes such."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.cli.console import say
from fedsieve.cli.reading import AS_FOUND
from fedsieve.datasets.columns import zero_or_one
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streams import TableStream, is_large
from fedsieve.datasets.tables import checked_stream, numeric_columns, table_file
from fedsieve.deployment.agreement import Agreement
from fedsieve.errors import DataError, listed
from fedsieve.methods import METHODS
from fedsieve.text import counted

TAKING = " and ".join(name for name, method in METHODS.items() if method.takes_unknown_labels)
ALL_KNOWN = f"Fill it in, or leave these rows out; unknown labels are for {TAKING}."


def read_label_columns(table: Any, names: Sequence[str], file: Path, *, partly: bool) -> Float:
    """The labels (n_rows, n_labels) as 0 and 1; `partly`, NaN where a cell is empty, and how many are is said."""
    values = numeric_columns(table, names, f"{file}, labels")
    unknown = np.isnan(values)
    if not partly or not unknown.any():
        return zero_or_one(values, names, str(file), ALL_KNOWN).astype(np.float64)
    zero_or_one(np.where(unknown, 0.0, values), names, str(file))
    _check_enough_is_known(unknown, names, file)
    counts = zip(names, unknown.sum(axis=0), strict=True)
    told = ", ".join(f"{int(count)} in {name!r}" for name, count in counts if count)
    say(f"{file}: empty cells are unknown labels: {told}. Each label is learned from the rows that have it.")
    return values


def known_labels(file: Path, agreement: Agreement, reading: Reading = AS_FOUND) -> Float | None:
    """What a site's table knows of the labels, NaN where it does not, for a method whose sites need none.

    `None` where nothing is known, or where no agreement asks for it after a run.
    """
    if not agreement.after["label"] or agreement.method.sites_hold_labels:
        return None
    table = checked_stream(file, reading) if is_large(file) else table_file(file, reading=reading).table
    here = [name for name in agreement.labels if name in table.column_names]
    if not here:
        return None
    found = numeric_columns(table.read(here) if isinstance(table, TableStream) else table, here, f"{file}, labels")
    zero_or_one(np.where(np.isnan(found), 0.0, found), here, str(file))
    known = np.full((len(found), len(agreement.labels)), np.nan)
    known[:, [agreement.labels.index(name) for name in here]] = found
    n_known = int((~np.isnan(known)).all(axis=1).sum())
    say(f"{file}: labels are known of {counted(n_known, 'row')}; only counts of them leave, after a run ('label').")
    return known


def _check_enough_is_known(unknown: Any, names: Sequence[str], file: Path) -> None:
    nowhere = [name for name, in_no_row in zip(names, unknown.all(axis=0), strict=True) if in_no_row]
    if nowhere:
        raise DataError(f"{file}: no row has the label {listed(nowhere)}. Leave it out of --labels.")
    without = np.flatnonzero(unknown.all(axis=1))
    if len(without):
        raise DataError(
            f"{file}: {counted(len(without), 'row')} without any label, first data row {int(without[0]) + 1}. Leave "
            "such rows out here; a site's file can have them."
        )

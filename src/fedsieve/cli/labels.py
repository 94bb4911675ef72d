"""Label columns of a file: 0 and 1, and an empty cell for a label that nobody knows, where the method takes such."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.cli.console import say
from fedsieve.datasets.columns import zero_or_one
from fedsieve.datasets.tables import numeric_columns
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

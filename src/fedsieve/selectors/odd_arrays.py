"""Arrays that are no table of numbers, though numpy would make one of them: text, dates, complex numbers, masks.

Without names of columns there is no saying what such values are. No value is shown.
"""

from typing import Any

import numpy as np
from scipy import sparse

from fedsieve.datasets.dask_table import is_dask
from fedsieve.datasets.kinds import NUMBERS, of_text
from fedsieve.errors import DataError
from fedsieve.selectors.tables import column_names
from fedsieve.tables import Table

ODD_KINDS = {
    "M": "holds dates ({dtype}), no numbers. Pass data frames and name the columns in `dates`, or days as floats.",
    "m": "holds spans of time ({dtype}), no numbers. Pass them as floats, all in one unit.",
    "c": "holds complex numbers ({dtype}). Complex data not supported: pass real and imaginary parts as columns.",
}
"""By numpy's letter for them."""


def refuse_elsewhere(owner: str, table: Any) -> None:
    """Refuse labeled rows that are partitioned over a cluster; clients may bring such tables."""
    if is_dask(table):
        raise DataError(f"{owner} is a Dask {type(table).__name__}; labeled rows must be in memory. Call .compute().")


def refuse_odd_array(owner: str, table: Any) -> None:
    """Refuse an array that holds no numbers; data frames with names and tables of their own kind are read by others."""
    if isinstance(table, Table) or is_dask(table) or column_names(table) is not None:
        return
    if isinstance(table, np.ma.MaskedArray):
        raise DataError(
            f"{owner} is a masked array, and values behind the mask would count. Pass NaN instead: "
            "array.astype(float).filled(np.nan)."
        )
    try:
        values = table if sparse.issparse(table) else np.asarray(table)
    except ValueError:  # ragged
        return
    kind = values.dtype.kind
    if kind in ODD_KINDS:
        raise DataError(f"{owner} {ODD_KINDS[kind].format(dtype=values.dtype)}")
    if values.ndim == 2 and kind in "OUS":
        _refuse_text(owner, values)


def _refuse_text(owner: str, values: Any) -> None:
    for place, column in enumerate(values.T):
        texts = [(row, value) for row, value in enumerate(column, 1) if isinstance(value, str | bytes)]
        odd = next((row for row, value in texts if of_text([value]).kind != NUMBERS), None)
        if odd is not None:
            raise DataError(
                f"{owner} holds something that is no number: text in column {place}, row {odd}. Encode it, or pass "
                "data frames, whose columns of text are read as categories."
            )

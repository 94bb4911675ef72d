"""What takes part in a run of which only totals are told: by its first sum, of which columns they would tell too much.

Needs no cryptography, so that whoever holds the sum can follow from it, also after the run.
"""

from dataclasses import replace

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.cells import AskCells, Cells
from fedsieve.protocol.method import Labeled, Method
from fedsieve.value_counts import usual_value


def first_request(method: Method) -> AskCells:
    """What the first sum of every run is of."""
    return AskCells(method.columns, method.columns_read[len(method.features) :], method.declared_scaling)


def taking_part(method: Method, labeled: Labeled, cells: Cells) -> tuple[Method, Labeled, tuple[str, ...]]:
    """What of the method and of the server's rows takes part, and which columns do not, by the sum of all cells."""
    few, n = cells.too_few(method.min_cell), len(method.features)
    left_out = tuple(name for name, out in zip(method.columns_read, few, strict=True) if out)
    Y = _constant(labeled.Y, few[n:]) if len(few) > n else labeled.Y
    rows = replace(labeled, X=_constant(labeled.X, few[:n]), Y=Y)
    if method.rows_per_column:
        n_gaps = int(((cells.missing > 0) & ~few)[:n].sum()) if method.columns.fills else 0
        most = cells.n_rows // method.rows_per_column - n_gaps  # which values are missing is a column, too
        method = method.comparing(most, labeled.Y.shape[1])
    return method, rows, left_out


def _constant(values: Float, columns: np.ndarray) -> Float:
    """With these columns as if all rows had their most frequent value, also those that miss one, as at the sites."""
    values = values.copy()
    for place in np.flatnonzero(columns):
        values[:, place] = usual_value(values[:, place]).value
    return values

"""Which columns may be near copies of each other: a few numbers of each column, sorted, in place of all pairs.

Where x_p = a + b x_q in three rows, (x_3 - x_1) / (x_2 - x_1) is the same of both columns, whatever a and b are. Of
`most` + 1 triples of different rows one has no odd row, so that near copies have an equal ratio somewhere: as an angle,
and up to rounding. Some more triples make up for those that tell nothing of the one column or of the other.
"""

from typing import NamedTuple

import numpy as np

from fedsieve.arrays import Bool, Float, Int

SPARE = 2  # triples that may tell nothing of a column: its values are equal there, or one is missing
STEEP = 1e-6  # what rounding may leave, of a column's step between the first two rows: beyond, a ratio tells nothing
ALIKE = 1e-4
"""Angles at most so far apart may be equal. With rooms of `STEEP` in both steps, and the rounding of a line besides,
ratios r of a copy are at most 4 * 2.1 * 2e-6 (1 + |r|) apart, and angles less than 2.1e-5."""


class Sketches(NamedTuple):
    """Of each triple the columns in the order of their angles, where each column is there (-1: nowhere), and angles.

    `unlike` are the columns of which too few triples tell anything: these may be copies of any.
    """

    order: Int
    place: Int
    angles: Float
    unlike: Bool


def sketches(table: Float, room: Float, most: int) -> Sketches:
    """Of a dense table; `room` is what rounding may leave in each column. Too few rows tell nothing of any column."""
    n_rows, n_columns = table.shape
    n_triples = most + 1 + 2 * SPARE
    if n_rows < 3 * n_triples:
        nowhere = np.full((0, n_columns), -1, dtype=np.int64)
        return Sketches(nowhere, nowhere, np.zeros((0, n_columns)), np.ones(n_columns, dtype=bool))
    rows = np.random.default_rng(0).permutation(n_rows)[: 3 * n_triples].reshape(n_triples, 3)
    first, second, third = (table[some] for some in rows.T)
    angles = np.full((n_triples, n_columns), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        step = second - first
        tells = (room <= STEEP * np.abs(step)) & np.isfinite(step)  # not where a value is missing
        np.divide(third - first, step, out=angles, where=tells)
    tells &= np.isfinite(angles)
    angles = np.where(tells, np.arctan(angles), np.inf)
    order = np.argsort(angles, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(n_columns)[None], axis=1)
    place[~tells] = -1
    unlike = np.count_nonzero(~tells, axis=0) > SPARE
    return Sketches(order, place, np.take_along_axis(angles, order, axis=1), unlike)

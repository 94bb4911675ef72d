"""The cheapest assignment of features to labels, and of all equally cheap ones always the same.

Solvers return any of the cheapest assignments; duplicated or 0/1 features make many of them. Linear programming
duality finds them all: they use only pairs of zero reduced cost. Among these the first labels get the smallest indices.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from fedsieve.arrays import Bool, Int


def first_cheapest_assignment(costs: Int) -> Int:
    """The column of each row of `costs` (n_rows, n_columns), or -1 where columns have run out; whole numbers only.

    Of the cheapest assignments of min(n_rows, n_columns) pairs: row 0 gets the smallest column that it has in any of
    them, then row 1 the smallest that it has in any of those, and so on; -1 counts as larger than every column.

    >>> first_cheapest_assignment(np.array([[5, 5, 9], [5, 5, 0], [1, 1, 9]]))
    array([0, 2, 1])
    >>> first_cheapest_assignment(np.array([[5, 7], [5, 7], [5, 7]]))
    array([ 0,  1, -1])
    """
    n_rows, n_columns = costs.shape
    size = max(n_rows, n_columns)
    tight, column_of = _tight_pairs(costs) if n_rows <= n_columns else _transposed(*_tight_pairs(costs.T))
    for row in range(n_rows):
        _improve(tight, column_of, row)
        tight[row] = np.arange(size) == column_of[row]  # from now on this row keeps its column
    chosen: Int = column_of[:n_rows]
    chosen[chosen >= n_columns] = -1
    return chosen


def _tight_pairs(costs: Int) -> tuple[Bool, Int]:
    """Which pairs cheapest assignments may use, and one of these assignments, of a square matrix.

    `costs` has at most as many rows as columns; rows of zeros, for columns that stay alone, make it square.
    """
    n_rows, n_columns = costs.shape
    _, taken = linear_sum_assignment(costs)
    surplus = costs - costs[np.arange(n_rows), taken][:, None]
    duals = np.zeros(n_columns, dtype=np.int64)  # of the columns: shortest ways of passing a column on from row to row
    while True:
        shorter = np.minimum(duals, (surplus + duals[taken][:, None]).min(axis=0))
        if np.array_equal(shorter, duals):
            break
        duals = shorter
    tight = np.empty((n_columns, n_columns), dtype=np.bool_)
    tight[:n_rows] = surplus + duals[taken][:, None] == duals
    tight[n_rows:] = duals == 0
    alone = np.setdiff1d(np.arange(n_columns), taken)
    return tight, np.concatenate([taken, alone])


def _transposed(tight: Bool, column_of: Int) -> tuple[Bool, Int]:
    return tight.T.copy(), np.argsort(column_of)


def _improve(tight: Bool, column_of: Int, row: int) -> None:
    """Give `row` its smallest column, by passing columns on along tight pairs, back to the one it had."""
    had = column_of[row]
    wanted = np.flatnonzero(tight[row, :had])
    if not len(wanted):
        return
    row_of = np.argsort(column_of)
    next_column = np.full(len(column_of), -1)  # of a row: the column it moves to when its own is taken from it
    frontier, unseen = np.array([had]), np.ones(len(column_of), dtype=np.bool_)
    unseen[row] = False
    while len(frontier):
        reached = np.flatnonzero(unseen & tight[:, frontier].any(axis=1))
        next_column[reached] = frontier[tight[np.ix_(reached, frontier)].argmax(axis=1)]
        unseen[reached] = False
        frontier = column_of[reached]
    free = wanted[next_column[row_of[wanted]] >= 0]
    if not len(free):
        return
    taken, mover = free[0], row
    while taken != had:
        column_of[mover], mover = taken, row_of[taken]
        taken = next_column[mover]
    column_of[mover] = had

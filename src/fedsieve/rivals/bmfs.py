"""BMFS: rounds of a bipartite matching between features and labels."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from fedsieve.arrays import Bool, Float, Int
from fedsieve.checks import check_choice
from fedsieve.measures.correlation import pearson_distance
from fedsieve.measures.scaling import is_constant
from fedsieve.ordering import DECIMALS, places, ranked
from fedsieve.rivals.rival import SupervisedRival, scores_of_order

CONSTANT = ("last", "published")


class BMFS(SupervisedRival):
    """Each round gives every label one feature, by the cheapest matching; frequent labels' features come first.

    A. Hashemi, M. B. Dowlatshahi, H. Nezamabadi-pour: A bipartite matching-based feature selection for multi-label
    learning. International Journal of Machine Learning and Cybernetics 12, 2021.

    Fidelity: checked against the authors' code, except where it leaves things to its solver (which of several
    cheapest matchings, and fewer features than labels) or fails (constant features).

    The cost of a pair is 1 - Pearson correlation, with its sign: a feature that falls as a label rises is the worst
    for it. Among equally cheap matchings the most frequent label gets the smallest index possible, then the next.

    Parameters
    ----------
    n_features_to_select : how many features `transform` keeps, or a share of them; None: the share of the paper's rule.
    constant : "last" ranks constant features last; "published" follows the authors' code, in which they count as
        perfectly correlated with every label and thus come first.

    Complexity: O(n d L) for the correlations, then d / L rounds of O(d L^2) each.
    """

    def __init__(self, n_features_to_select: float | None = None, *, constant: str = "last") -> None:
        super().__init__(n_features_to_select)
        self.constant = constant

    def _rank(self, X: Float, Y: Float) -> tuple[Float, Int]:
        check_choice("BMFS", "constant", self.constant, CONSTANT)
        published = self.constant == "published"
        distance = pearson_distance(X, Y, undefined=0.0 if published else 1.0)
        out = np.zeros(X.shape[1], dtype=np.bool_) if published else is_constant(X)
        by_frequency = ranked(Y.sum(axis=0))
        # Whole numbers have exact sums: equally cheap matchings are recognized as such.
        costs = np.rint(distance[:, by_frequency].T * 10.0**DECIMALS).astype(np.int64)
        remaining = np.flatnonzero(~out)
        rounds = []
        while len(remaining):
            chosen = first_cheapest_assignment(costs[:, remaining])
            chosen = chosen[chosen >= 0]
            rounds.append(remaining[chosen])
            remaining = np.delete(remaining, chosen)
        order: Int = np.concatenate([*rounds, np.flatnonzero(out)])
        return scores_of_order(order), order


def first_cheapest_assignment(costs: Int) -> Int:
    """The column of each row of `costs` (n_rows, n_columns), or -1 where columns have run out; whole numbers only.

    Of the cheapest assignments of min(n_rows, n_columns) pairs: row 0 gets the smallest column that it has in any of
    them, then row 1 the smallest that it has in any of those, and so on; -1 counts as larger than every column.
    Solvers return any of the cheapest assignments; duplicated or 0/1 features make many of them. Linear programming
    duality finds them all: they use only pairs of zero reduced cost.

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
    return tight.T.copy(), places(column_of)


def _improve(tight: Bool, column_of: Int, row: int) -> None:
    """Give `row` its smallest column, by passing columns on along tight pairs, back to the one it had."""
    had = column_of[row]
    wanted = np.flatnonzero(tight[row, :had])
    if not len(wanted):
        return
    row_of = places(column_of)
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

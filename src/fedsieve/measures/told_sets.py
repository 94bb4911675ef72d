"""Counts of rows in bins that give no single row away: which cuts between bins may be told, and which may not.

Counts of two sets that differ in one row tell of that row by subtraction; so does a set of few rows by itself, and one
that is nearly all, or nearly another's complement. So no two told sets of rows differ in a few rows only: a cut that
would tell such a set is left out, which makes one bin of two.
"""

from collections.abc import Sequence

import numpy as np

from fedsieve.arrays import Bool, Int


class ToldSets:
    """Sets of rows that are told: each differs from all others, and from their complements, in many rows or none."""

    def __init__(self, n_rows: int, least: int) -> None:
        self._n, self._least = n_rows, least
        self._sets = np.zeros((1, n_rows), dtype=np.float32)  # none, and so all
        self._sizes = np.zeros(1)

    def tell(self, *several: Bool) -> bool:
        """Tell these sets, all or none: whether each differs enough from all others, also of these."""
        if self._least <= 1:
            return True
        before = self._sets, self._sizes
        for rows in several:
            if not self._may_tell(rows):
                self._sets, self._sizes = before
                return False
            self._sets = np.vstack([self._sets, rows.astype(np.float32)])
            self._sizes = np.append(self._sizes, rows.sum())
        return True

    def _may_tell(self, rows: Bool) -> bool:
        apart = rows.sum() + self._sizes - 2 * (self._sets @ rows.astype(np.float32))
        few = (apart > 0) & (apart < self._least)
        few_from_complement = (apart < self._n) & (apart > self._n - self._least)
        return not bool(np.any(few | few_from_complement))


def told_counts(bins: Int, groups: Sequence[Bool], n_bins: int, told: ToldSets) -> Int:
    """How many rows of each group lie in each bin, (n_groups, n_bins), after cuts that may not be told are left out.

    All groups are told or none: where one of them may not be, all counts are 0. Rows of bins that became one are
    counted in the fullest of these.

    >>> bins, group = np.array([0, 0, 0, 1, 2, 2, 2]), np.ones(7, dtype=bool)
    >>> told_counts(bins, [group], 3, ToldSets(7, 1)), told_counts(bins, [group], 3, ToldSets(7, 2))
    (array([[3, 1, 3]]), array([[3, 0, 4]]))
    """
    counts = np.zeros((len(groups), n_bins), dtype=np.int64)
    if not told.tell(*groups):
        return counts
    for place, group in enumerate(groups):
        exact, first = np.bincount(bins[group], minlength=n_bins), 0
        for cut in range(1, n_bins + 1):
            below, above = exact[first:cut], group & (bins >= cut)
            if cut == n_bins or (below.any() and above.any() and told.tell(above)):
                counts[place, first + int(np.argmax(below))] = below.sum()
                first = cut
    return counts

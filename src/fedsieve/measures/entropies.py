"""Entropies of discrete columns, base 2: joint counts by products of indicator matrices, logarithms from a table.

Tables hold small non-negative whole numbers (of any dtype), one column per variable. Of K values only K - 1 need a
product, the counts of the first value follow from the margins.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int

CELLS = 1 << 22  # joint counts that are looked at together
DIGITS = 10  # a position in units of a bin, or a sum of information in bits, is the same if these decimals are


def unit_bins(U: Float, n_bins: int) -> Int:
    """Values of [0, 1] in `n_bins` intervals of one width; a value on an edge lies above it.

    >>> unit_bins(np.array([0.0, 1 / 3, 0.5, 1.0]), 3)
    array([0, 1, 1, 2])
    """
    position = np.floor(np.round(U * n_bins, DIGITS))
    return np.minimum(position, n_bins - 1).astype(np.int64)


def entropies(A: NDArray[Any]) -> Float:
    """H of each column of A.

    >>> entropies(np.array([[0, 0], [0, 1], [0, 2], [0, 3]]))
    array([0., 2.])
    """
    return joint_entropies(A, np.zeros((len(A), 1)))[:, 0]


def joint_entropies(A: NDArray[Any], B: NDArray[Any]) -> Float:
    """H(A_i, B_j) of the columns of two tables: (columns of A, columns of B)."""
    return JointCounts(A, B).entropies()


def mutual_information(A: NDArray[Any], B: NDArray[Any]) -> Float:
    """I(A_i; B_j) between the columns of two tables: (columns of A, columns of B), never negative.

    >>> mutual_information(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[1], [1], [0], [0]]))
    array([[1.],
           [0.]])
    """
    information: Float = entropies(A)[:, None] + entropies(B)[None, :] - joint_entropies(A, B)
    return np.maximum(information, 0.0)


def in_bits(information: Float) -> Float:
    """Sums of information without the digits that rounding made, so that an exact 0 is one."""
    return np.round(information, DIGITS) + 0.0


class JointCounts:
    """How often the columns of A and of B take their values together, among all rows or split by a third column."""

    def __init__(self, A: NDArray[Any], B: NDArray[Any]) -> None:
        self.n_rows = len(A)
        self._A, self._B = _indicators(A), _indicators(B)
        self._all = _together(self._A, self._B)
        self._A_sums, self._B_sums = self._A.sum(axis=0), self._B.sum(axis=0)
        cells = (self._A.shape[1] + 1) * (self._B.shape[1] + 1) * self._B.shape[2]
        self._block = max(1, CELLS // cells)
        numbers = np.arange(self.n_rows + 1, dtype=np.float64)
        self._terms: Float = numbers * np.log2(np.maximum(numbers, 1.0))

    def entropies(self) -> Float:
        """H(A_i, B_j)."""
        return self.entropies_with(np.zeros(self.n_rows), np.arange(self._A.shape[2]))

    def entropies_with(self, column: NDArray[Any], of_A: Int, of_B: slice = slice(None)) -> Float:
        """H(A_i, column, B_j) for the chosen columns i of A (one at least) and j of B."""
        values, groups, sizes = np.unique(column, return_inverse=True, return_counts=True)
        largest = int(sizes.argmax())  # its counts are what the other groups leave of all rows'
        rows = [np.flatnonzero(groups == g) for g in range(len(values)) if g != largest]
        blocks = [of_A[start : start + self._block] for start in range(0, len(of_A), self._block)]
        return np.vstack([self._block_entropies(rows, block, of_B) for block in blocks])

    def _block_entropies(self, groups: list[Int], of_A: Int, of_B: slice) -> Float:
        together = self._all[:, of_A][..., of_B]
        rest = _with_first_values(together, self._A_sums[:, of_A], self._B_sums[:, of_B], self.n_rows)
        sums = np.zeros(rest.shape[1::2])
        for rows in groups:
            A, B = self._A[rows][:, :, of_A], self._B[rows][:, :, of_B]
            counts = _with_first_values(_together(A, B), A.sum(axis=0), B.sum(axis=0), len(rows))
            rest -= counts
            sums += self._sums(counts)
        sums += self._sums(rest)
        entropy: Float = (self._terms[-1] - sums) / self.n_rows
        return np.maximum(entropy, 0.0)

    def _sums(self, counts: NDArray[Any]) -> Float:
        """Σ c log2 c over the values: (columns of A, columns of B)."""
        total: Float = self._terms.take(counts.astype(np.int64)).sum(axis=(0, 2))
        return total


def _together(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Rows in which two indicators are 1: (values of A, columns of A, values of B, columns of B)."""
    product: NDArray[Any] = A.reshape(len(A), -1).T @ B.reshape(len(B), -1)
    return product.reshape(A.shape[1:] + B.shape[1:])


def _with_first_values(together: NDArray[Any], A: NDArray[Any], B: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """The same with the first value of A and of B, which have no indicators; A and B are the other values' counts."""
    n_A, a, n_B, b = together.shape
    counts = np.empty((n_A + 1, a, n_B + 1, b), dtype=together.dtype)
    counts[1:, :, 1:] = together
    counts[1:, :, 0] = A[:, :, None] - together.sum(axis=2)
    counts[0, :, 1:] = B - together.sum(axis=0)
    counts[0, :, 0] = (n_rows - A.sum(axis=0))[:, None] - counts[0, :, 1:].sum(axis=1)
    return counts


def _indicators(table: NDArray[Any]) -> NDArray[Any]:
    """(rows, values but the first, columns): 1 where a column has the value."""
    whole = np.asarray(table).astype(np.int64)
    values = np.arange(1, max(1, int(whole.max(initial=0))) + 1)
    exact = np.float32 if len(whole) < 1 << 24 else np.float64  # whole numbers up to the number of rows
    indicators: NDArray[Any] = (whole[:, None, :] == values[:, None]).astype(exact)
    return indicators

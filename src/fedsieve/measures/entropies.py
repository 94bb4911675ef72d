"""Entropies of discrete columns, base 2: joint counts by products of indicator matrices, logarithms from a table.

Tables hold small non-negative whole numbers (of any dtype), one column per variable. Of K values only K - 1 need a
product, the counts of the first value follow from the margins.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int
from fedsieve.ordering import rounded

CELLS = 1 << 22  # joint counts that are looked at together
DIGITS = 10  # a position in units of a bin, or a sum of information in bits, is the same if these decimals are


def unit_bins(U: Float, n_bins: int) -> Int:
    """Values of [0, 1] in `n_bins` intervals of one width; a value on an edge lies above it.

    >>> unit_bins(np.array([0.0, 1 / 3, 0.5, 1.0]), 3)
    array([0, 1, 1, 2])
    """
    position = np.floor(rounded(U * n_bins, DIGITS))
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


def shared_information(A: NDArray[Any], B: NDArray[Any]) -> Float:
    """I(A_i; B_j) between the columns of two tables: (columns of A, columns of B), never negative.

    >>> shared_information(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[1], [1], [0], [0]]))
    array([[1.],
           [0.]])
    """
    information: Float = entropies(A)[:, None] + entropies(B)[None, :] - joint_entropies(A, B)
    return np.maximum(information, 0.0)


def in_bits(information: Float) -> Float:
    """Sums of information without the digits that rounding made, so that an exact 0 is one."""
    return rounded(information, DIGITS) + 0.0


class JointCounts:
    """How often the columns of A and of B take their values together, among all rows or split by a third column."""

    def __init__(self, A: NDArray[Any], B: NDArray[Any]) -> None:
        self.n_rows = len(A)
        self._A, self._B = _indicators(A), _indicators(B)
        self._all = _together(self._A, self._B)
        self._A_sums, self._B_sums = self._A.sum(axis=0), self._B.sum(axis=0)
        self._block = _columns_at_once(self._all)
        self._terms = _terms(self.n_rows)

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
            sums += _sums(self._terms, counts)
        sums += _sums(self._terms, rest)
        return _entropy(self._terms, sums)


class BinCounts:
    """How often binned columns take their values together, and with 0/1 labels: counts that grow batch by batch."""

    def __init__(self, n_columns: int, n_bins: int, n_labels: int) -> None:
        self._n_rows, self._values = 0, np.arange(1, n_bins)
        self._columns, self._labels = np.zeros((n_bins - 1, n_columns)), np.zeros((1, n_labels))
        self._pairs = np.zeros(self._columns.shape * 2)
        self._with_labels = np.zeros(self._columns.shape + self._labels.shape)

    def add(self, bins: Int, labels: Int) -> None:
        """Count some more rows."""
        A, B = (bins[:, None, :] == self._values[:, None]).astype(np.float64), labels[:, None, :].astype(np.float64)
        self._n_rows += len(bins)
        self._columns += A.sum(axis=0)
        self._labels += B.sum(axis=0)
        self._pairs += _together(A, A)
        self._with_labels += _together(A, B)

    def entropies(self) -> tuple[Float, Float, Float]:
        """H(f), (n_columns,); H(f, g), (n_columns, n_columns); and I(f; label), (n_columns, n_labels)."""
        used = slice(0, max(1, int(np.flatnonzero(self._columns.any(axis=1)).max(initial=0)) + 1))
        columns, terms = self._columns[used], _terms(self._n_rows)

        def joint(together: NDArray[Any], A: NDArray[Any], B: NDArray[Any]) -> Float:
            step = _columns_at_once(together)
            blocks = [slice(start, start + step) for start in range(0, A.shape[1], step)]
            counted = (_with_first_values(together[:, at], A[:, at], B, self._n_rows) for at in blocks)
            return np.vstack([_entropy(terms, _sums(terms, counts)) for counts in counted])

        def single(counts: NDArray[Any]) -> Float:
            return joint(np.zeros((*counts.shape, 1, 1)), counts, np.zeros((1, 1)))[:, 0]

        own = single(columns)
        of_labels = joint(self._with_labels[used], columns, self._labels)
        information: Float = own[:, None] + single(self._labels)[None, :] - of_labels
        return own, joint(self._pairs[used][:, :, used], columns, columns), np.maximum(information, 0.0)


def _columns_at_once(together: NDArray[Any]) -> int:
    """How many columns of A are looked at together."""
    n_A, _, n_B, b = map(int, together.shape)
    return max(1, CELLS // ((n_A + 1) * (n_B + 1) * b))


def _terms(n_rows: int) -> Float:
    """c log2 c of every count."""
    numbers = np.arange(n_rows + 1, dtype=np.float64)
    terms: Float = numbers * np.log2(np.maximum(numbers, 1.0))
    return terms


def _sums(terms: Float, counts: NDArray[Any]) -> Float:
    """Σ c log2 c over the values: (columns of A, columns of B)."""
    total: Float = terms.take(counts.astype(np.int64)).sum(axis=(0, 2))
    return total


def _entropy(terms: Float, sums: Float) -> Float:
    entropy: Float = (terms[-1] - sums) / (len(terms) - 1)
    return np.maximum(entropy, 0.0)


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

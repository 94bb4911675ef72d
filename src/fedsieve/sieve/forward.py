"""Forward regression on covariances alone: units taken one by one, each the one that explains most of what is left.

All it needs is how the columns of all rows vary together and with the predicted labels; no row is looked at.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedsieve.arrays import Bool, Float, Int
from fedsieve.ordering import best_of, ranked

CAUTION = 0.1  # added to every column's variance of 1: what is nearly told by the taken ones explains nothing by itself
SPENT = 1e-8  # of a column's variance of 1: what is left of it tells nothing
DECIMALS = 10  # of a gain, the first one being 1: what differs less is equal


class Correlations(Protocol):
    """How standardized columns vary together, as far as it is asked for."""

    @property
    def variance(self) -> Float:
        """1 for each column, 0 for constant ones."""

    def column(self, column: int) -> Float:
        """The correlations of all columns with one."""

    def blocks(self, columns: Int) -> Float:
        """Those of some columns among each other, (..., w, w) for columns (..., w)."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """Correlations that are all known."""

    correlations: Float

    @property
    def variance(self) -> Float:
        """Its diagonal."""
        return np.diagonal(self.correlations)

    def column(self, column: int) -> Float:
        """One of its columns."""
        return self.correlations[:, column]

    def blocks(self, columns: Int) -> Float:
        """Parts of it."""
        return self.correlations[columns[..., :, None], columns[..., None, :]]


@dataclass(frozen=True, eq=False)
class OfRows:
    """The correlations of rows that are here, of tables too wide for a matrix; `rows` have columns of length 1 or 0."""

    rows: Float

    @property
    def variance(self) -> Float:
        """The squared lengths."""
        return np.asarray((self.rows**2).sum(axis=0))

    def column(self, column: int) -> Float:
        """By one product."""
        return np.asarray(self.rows[:, column] @ self.rows)

    def blocks(self, columns: Int) -> Float:
        """By one product each."""
        some = np.moveaxis(self.rows[:, columns], 0, -2)
        return np.asarray(np.swapaxes(some, -1, -2) @ some)


@dataclass(frozen=True, eq=False)
class Path:
    """All units in order, and per unit what it explains by itself and what it explained in its place."""

    order: Int
    n_taken: int  # one by one; the others follow
    varies: Bool
    alone: Float
    gain: Float  # falls along the order: no more than those before


def forward_path(correlations: Correlations, products: Float, unit: Int, n_taken: int) -> Path:
    """Take so many units, each the one that explains most; the others follow by what they would still explain.

    `products` (n_columns, n_labels) are covariances of standardized columns with predicted labels. A unit's columns U
    explain tr(B_Uᵀ (R_UU + c I)⁻¹ B_U) of them, B and R being what the taken units leave of `products` and
    `correlations`, and c = `CAUTION`. Gains are compared in units of the first. Ties go by what units explain alone, as
    where there are fewer rows than columns and nothing is left to explain, then by index; units without variance come
    last.

    >>> R = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> forward_path(Matrix(R), np.array([[0.6], [0.55], [0.3]]), np.arange(3), 3).order  # the second repeats the first
    array([0, 2, 1])
    """
    left_over = _LeftOver(correlations, products, unit, n_taken)
    varies = left_over.vary
    left, taken, gain = varies.copy(), list[int](), np.zeros(len(varies))
    alone = gains = left_over.gains()
    scale = float(alone.max(initial=0.0)) or 1.0
    for _ in range(min(n_taken, int(varies.sum()))):
        best = best_of(left, gains / scale, alone / scale, decimals=DECIMALS)
        taken.append(best)
        gain[best] = gains[best]
        left[best] = False
        left_over.take(best)
        gains = left_over.gains()
    gain[left] = gains[left]
    rest = ranked(gains / scale, alone / scale, decimals=DECIMALS, last=~left)[: int(left.sum())]
    order = np.array([*taken, *rest, *np.flatnonzero(~varies)], dtype=np.int64)
    gain[order] = np.minimum.accumulate(gain[order])
    return Path(order, len(taken), varies, alone, gain)


class _LeftOver:
    """What the taken units leave of the columns' variances and of their covariances with the labels.

    Each column is taken as in a Cholesky decomposition: what it shares with all others leaves them and the labels.
    """

    def __init__(self, correlations: Correlations, products: Float, unit: Int, n_taken: int) -> None:
        self._correlations, self._unit = correlations, unit
        self._variance, self._products = correlations.variance.copy(), products.copy()
        widths = np.bincount(unit)
        self.vary: Bool = np.bincount(unit, self._variance) > 0
        single = widths[unit] == 1
        self._single = slice(None) if single.all() else np.flatnonzero(single)
        # Units of equally many columns are looked at together: (n_such_units, n_columns_each).
        by_unit = np.split(np.argsort(unit, kind="stable"), np.cumsum(widths)[:-1])
        self._wide = [
            np.array([columns for columns in by_unit if len(columns) == width])
            for width in np.unique(widths[widths > 1])
        ]
        self._blocks = [correlations.blocks(columns) for columns in self._wide]
        most = int(np.sort(widths)[::-1][:n_taken].sum())
        self._shared, self._n_shared = np.empty((most, len(unit))), 0  # one row per column that was taken

    def gains(self) -> Float:
        """What each unit would explain."""
        found, single = np.zeros(len(self.vary)), self._single
        of_columns = np.einsum("cl,cl->c", self._products[single], self._products[single])
        found[self._unit[single]] = of_columns / (self._variance[single] + CAUTION)
        for columns, block in zip(self._wide, self._blocks, strict=True):
            B = self._products[columns]
            explained = B * np.linalg.solve(block + CAUTION * np.eye(columns.shape[1]), B)
            found[self._unit[columns[:, 0]]] = explained.sum(axis=(1, 2))
        return found

    def take(self, taken: int) -> None:
        """Its columns are told from here on, the one of which most is left first; of equal ones by the labels.

        Which of them is last can matter: labeled rows may say that it follows from the others, and all rows not.
        """
        columns = np.flatnonzero(self._unit == taken)
        for _ in columns:
            of_labels = (self._products[columns] ** 2).sum(axis=1)
            most = float(of_labels.max()) or 1.0
            everyone = np.ones(len(columns), dtype=bool)
            column = columns[best_of(everyone, self._variance[columns], of_labels / most, decimals=DECIMALS)]
            if self._variance[column] <= SPENT:
                return
            told = self._shared[: self._n_shared]
            length = np.sqrt(self._variance[column])
            shared = (self._correlations.column(column) - told.T @ told[:, column]) / length
            self._products -= np.outer(shared, self._products[column] / length)
            self._variance = np.maximum(self._variance - shared**2, 0.0)
            self._variance[column] = 0.0
            for number, wide in enumerate(self._wide):
                self._blocks[number] -= shared[wide][:, :, None] * shared[wide][:, None, :]
            self._shared[self._n_shared] = shared
            self._n_shared += 1

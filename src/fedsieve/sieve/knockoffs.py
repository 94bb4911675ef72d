"""Knockoffs of the labeled rows: stand-ins for every unit, like it to all others, that know nothing of the labels.

Gaussian model-X knockoffs (Candès et al. 2018), from the mean and the covariance of all rows of the federation. Where
there are enough rows without labels, they are exact for Gaussian rows of any mean and covariance (Huang and Janson
2020): given the sums of all rows, labeled and not, they are drawn as that paper draws them, without a look at any row
but the labeled ones.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.ordering import ranked

FLAT = 1e-9  # of a unit's largest variance: a direction in which it does not vary
LEAST = 1e-4  # eigenvalue of the correlations; below it they are mixed with those of unrelated columns
APART = 0.02  # a distance from which on a coordinate is told from its knockoff
SWEEPS, SETTLED = 30, 1e-3  # over the columns, until none of the distances moves by more than this share of the largest


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Columns, standardized; in a unit of several, without their correlations, as like to them as can be."""

    basis: Float  # (n_columns, n_coordinates)
    unit: Int  # of each coordinate


@dataclass(frozen=True, eq=False)
class Knockoffs:
    """What knockoffs of some rows are drawn from; all in `Coordinates`."""

    rows: Float  # labeled ones, from the mean
    correlations: Float
    distance: Float  # s: a coordinate and its knockoff have the correlation 1 - s
    n_all: int | None  # rows behind mean and correlations, where knockoffs are exact; None: they count as known

    def drawn(self, rng: np.random.Generator) -> Float:
        """Knockoffs of all rows."""
        noise = rng.standard_normal(self.rows.shape)
        if self.n_all is not None:
            noise = self._conditional(noise, self.n_all, rng)
        return self.expected + noise @ self.root

    def _conditional(self, noise: Float, n_all: int, rng: np.random.Generator) -> Float:
        """√n U of the labeled rows, U having orthonormal columns that are orthogonal to 1 and to all rows' columns.

        Of all such U one is to be drawn at random. Its labeled rows are (I - H)^½ times those of a random orthonormal
        matrix, H being the leverages; those are normal numbers, divided by what they and all others would sum up to.
        """
        n, p = noise.shape
        n_others = n_all - 1 - p - n
        products = noise.T @ noise + _wishart(n_others, p, rng)
        orthonormal = np.linalg.solve(np.linalg.cholesky(products), noise.T).T
        return np.asarray(np.sqrt(n_all) * self._free @ orthonormal)

    @cached_property
    def _free(self) -> Float:
        """(I - H)^½ of the labeled rows."""
        assert self.n_all is not None
        leverage = (1 + self.rows @ np.linalg.solve(self.correlations, self.rows.T)) / self.n_all
        return _root(np.eye(len(leverage)) - leverage)

    @cached_property
    def _inverse_distance(self) -> Float:
        """R⁻¹ S."""
        return np.asarray(np.linalg.solve(self.correlations, np.diag(self.distance)))

    @cached_property
    def expected(self) -> Float:
        """Knockoffs without noise."""
        return np.asarray(self.rows - self.rows @ self._inverse_distance)

    @cached_property
    def root(self) -> Float:
        """The root of what knockoffs vary by, the rows given: of 2 S - S R⁻¹ S."""
        return _root(2 * np.diag(self.distance) - self.distance[:, None] * self._inverse_distance)


def knockoffs_of(
    X: Float, mean: Float, covariance: Float, unit: Int, n_all: int | None
) -> tuple[Knockoffs, Coordinates]:
    """Knockoffs of the rows X, from the mean and covariance of all rows' columns.

    `n_all` is how many rows these are of, the rows X among them; None if they are of other rows too, such as those of
    shifted sites.
    """
    coordinates = coordinates_of(covariance, unit)
    basis = coordinates.basis
    correlations, rows = basis.T @ covariance @ basis, (X - mean) @ basis
    correlations, mixed = _apart_from_singular(correlations)
    n, p = rows.shape
    exact = n_all is not None and not mixed and n_all - n > 2 * p + 1
    return Knockoffs(rows, correlations, distances(correlations), n_all if exact else None), coordinates


def coordinates_of(covariance: Float, unit: Int) -> Coordinates:
    """By unit; without what does not vary. Within a unit coordinates have no correlation.

    They are D^-½ P^-½ of a unit's columns, D having their variances and P their correlations: every column has one
    coordinate, and no order of columns changes it. Of columns that follow from each other, those that go less with all
    columns have none. So coordinates follow from the covariance alone, as conditional knockoffs require.
    """
    preferred = ranked((covariance**2).sum(axis=0))
    basis, of = [], []
    for number in range(int(unit.max()) + 1):
        columns = _independent(covariance, preferred[unit[preferred] == number])
        block = covariance[np.ix_(columns, columns)]
        per_deviation = 1 / np.sqrt(np.diagonal(block))
        values, vectors = np.linalg.eigh(block * np.outer(per_deviation, per_deviation))
        whole = np.zeros((len(unit), len(columns)))
        whole[columns] = per_deviation[:, None] * ((vectors / np.sqrt(values)) @ vectors.T)
        basis.append(whole)
        of += [number] * len(columns)
    return Coordinates(np.hstack(basis), np.array(of, dtype=np.int64))


def _independent(covariance: Float, columns: Int) -> Int:
    """Those of a unit's columns of which none follows from those before it, by index."""
    largest, kept, own = float(np.diagonal(covariance)[columns].max()), list[int](), list[Float]()
    block = covariance[np.ix_(columns, columns)]
    for column, vector in zip(columns.tolist(), np.eye(len(columns)), strict=True):
        left = vector - sum((one * (one @ block @ vector) for one in own), np.zeros(len(columns)))
        variance = float(left @ block @ left)
        if variance > FLAT * largest:
            own.append(left / np.sqrt(variance))
            kept.append(column)
    return np.array(sorted(kept), dtype=np.int64)


def distances(correlations: Float) -> Float:
    """S = diag(s) by the rule of minimal variance (Spector and Janson 2022): s minimizes Σ 1/s + tr (2R - S)⁻¹.

    That is tr G⁻¹, G being the covariance of coordinates and knockoffs: the others then tell as little as possible of
    a coordinate. It is convex, and each s has its best value in closed form, the others given. The beginning is
    equicorrelated, s = λ, the smallest eigenvalue of R, half of what is possible; it stays where rounding spoils all.

    >>> distances(np.eye(2)).round(6)
    array([1., 1.])
    """
    least = float(np.linalg.eigvalsh(correlations)[0])
    equal = np.full(len(correlations), min(least, 1.0))
    s = equal.copy()
    for _ in range(SWEEPS):
        before = s.copy()
        inverse = np.linalg.inv(2 * correlations - np.diag(s))
        for j in range(len(s)):
            column = inverse[j].copy()
            length = np.sqrt(column @ column)
            step = (1 - length * s[j]) / (column[j] + length)
            inverse += np.outer(column, column * (step / (1 - step * column[j])))
            s[j] += step
        if np.abs(s - before).max() < SETTLED * s.max():
            break
    possible = np.isfinite(s).all() and s.min() > 0 and np.linalg.eigvalsh(2 * correlations - np.diag(s))[0] > 0
    return s if possible else equal


def _apart_from_singular(correlations: Float) -> tuple[Float, bool]:
    """Correlations of which no combination of coordinates has next to no variance, and whether they had to be mixed."""
    least = float(np.linalg.eigvalsh(correlations)[0])
    if least >= LEAST:
        return correlations, False
    share = (LEAST - least) / (1 - least)
    return (1 - share) * correlations + share * np.eye(len(correlations)), True


def _root(matrix: Float) -> Float:
    """The symmetric root, which rounding changes by no more than rounding; what rounding makes negative counts as 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _wishart(n_rows: int, n_columns: int, rng: np.random.Generator) -> Float:
    """Products of the columns of so many normal rows, without drawing them (Bartlett)."""
    lower = np.tril(rng.standard_normal((n_columns, n_columns)), -1)
    lower += np.diag(np.sqrt(rng.chisquare(n_rows - np.arange(n_columns))))
    return np.asarray(lower @ lower.T)

"""Noisy moments of the sites beside exact ones of the labeled rows: each counts by how well it is known.

Both are moments of rows that are clipped alike, so that they estimate the same. The labeled rows' own covariances, of
rows that are not clipped, are corrected by λ (sites' - labeled rows'), λ being the inverse-variance weight

    λ = (v / n) / (v / n + v / N + τ² / N²),

v the variance of one row's product, n labeled rows, N rows at the sites, τ² the variance of the noise on a sum. Without
noise λ = N / (n + N): where nothing is clipped, that is the pooled covariance. With ever more noise λ = 0: the labeled
rows alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Bool, Float

MOST_CHANGED = 4.0  # a column's variance is corrected by this factor at most: noise must not make it constant


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Sums over rows z and their predicted labels p: of z, of z² or z zᵀ, and of z pᵀ; how many rows, or about."""

    n_rows: float
    sums: Float
    second: Float  # (n_columns,) or (n_columns, n_columns)
    products: Float

    @classmethod
    def of(cls, rows: Float, labels: Float, *, pairs: bool) -> "MomentSums":
        """Of rows that are here."""
        second = rows.T @ rows if pairs else (rows**2).sum(axis=0)
        return cls(len(rows), rows.sum(axis=0), second, rows.T @ labels)


@dataclass(frozen=True, eq=False)
class Correction:
    """What the sites' rows add to the labeled rows' own moments about their center, and with which weights."""

    mean: Float
    second: Float
    products: Float
    weight: float  # of the sites in what matters most, the products
    rows_for_half: float  # how many rows the sites would need for a weight of one half

    def covariance(self, own: Float) -> Float:
        """The corrected covariance of the columns; 0 for those that do not vary in the labeled rows."""
        between = np.outer(self.mean, self.mean)
        corrected = own + (self.second - between if self.second.ndim == 2 else np.diag(self.second - self.mean**2))
        variance = bounded_variance(np.diagonal(corrected), np.diagonal(own))
        most = np.sqrt(np.outer(variance, variance))
        corrected = np.clip(corrected, -most, most)
        np.fill_diagonal(corrected, variance)
        return corrected

    def variance(self, own: Float) -> Float:
        """The same of each column alone."""
        second = self.second if self.second.ndim == 1 else np.diagonal(self.second)
        return bounded_variance(own + second - self.mean**2, own)

    def projections(self, own: Float, weights: Float) -> Float:
        """The corrected covariances with the predicted labels."""
        corrected: Float = own + self.products - np.outer(self.mean, self.mean @ weights)
        return corrected

    def only(self, columns: Bool) -> "Correction":
        """That of some columns, given as a mask."""
        second = self.second[columns] if self.second.ndim == 1 else self.second[np.ix_(columns, columns)]
        return Correction(self.mean[columns], second, self.products[columns], self.weight, self.rows_for_half)


def bounded_variance(corrected: Float, own: Float) -> Float:
    """A variance no further from the labeled rows' own than a factor `MOST_CHANGED`."""
    bounded: Float = np.clip(corrected, own / MOST_CHANGED, own * MOST_CHANGED)
    return bounded


def correction(rows: Float, labels: Float, sites: MomentSums, noise: MomentSums) -> Correction:
    """From clipped labeled rows and their clipped predicted labels; `noise` has the variances of the sites' sums.

    The variance v of a product of two columns is taken as that of independent ones, var(z_i) var(z_j): estimates of
    single products would be noise themselves, and one for all would drown columns that seldom vary.
    """
    pairs = sites.second.ndim == 2
    own = MomentSums.of(rows, labels, pairs=pairs)
    n, n_sites = own.n_rows, max(sites.n_rows, 1.0)
    of_columns, of_labels = rows.var(axis=0), labels.var(axis=0)
    of_squares = (rows**2).var(axis=0)
    of_second = of_squares
    if pairs:
        of_second = np.outer(of_columns, of_columns)
        np.fill_diagonal(of_second, of_squares)

    def weight(v: Float, tau2: Float) -> Float:
        here = v / n
        found = np.divide(here, here + v / n_sites + tau2 / n_sites**2, out=np.zeros_like(here), where=here > 0)
        return found if sites.n_rows else np.zeros_like(found)

    mean = weight(of_columns, noise.sums) * (sites.sums / n_sites - own.sums / n)
    second = weight(of_second, noise.second) * (sites.second / n_sites - own.second / n)
    of_products = np.outer(of_columns, of_labels)
    weights = weight(of_products, noise.products)
    shares = of_products / max(float(of_products.sum()), np.finfo(np.float64).tiny)
    noisy = float(noise.products.mean() / max(float((of_products * shares).sum()), np.finfo(np.float64).tiny))
    half = n / 2 + math.sqrt(n**2 / 4 + n * noisy)  # where v/N + τ²/N² = v/n
    products = weights * (sites.products / n_sites - own.products / n)
    return Correction(mean, second, products, float((weights * shares).sum()), half)

"""The messages of Sieve: covariances of columns as it sees them, and the products of those with given weights.

Numbers are scaled to [0, 1] and codes are one 0/1 column per code (`protocol.encoding`); the names in a reply are those
of the encoded columns.
"""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float
from fedsieve.protocol.messages.parts import Columns, Scaling, same_names


@dataclass(frozen=True, eq=False)
class AskScaledCovariances:
    """Server: means and covariances of the encoded columns. Reveals the federation's ranges to every client."""

    columns: Columns
    scaling: Scaling


@dataclass(frozen=True, eq=False)
class AskProjections:
    """Server: how each encoded column varies with these weighted sums of all of them, (n_encoded, n_sums).

    Reveals the federation's ranges, and a model of the labels fitted on the server's rows, to every client.
    """

    columns: Columns
    scaling: Scaling
    weights: Float


@dataclass(frozen=True, eq=False)
class Projections:
    """Means and summed squared deviations of the encoded columns, and their summed products with the weighted sums.

    `products` is (n_encoded, n_sums): covariances, times n_rows, times the weights that were asked about. Reveals a
    site's averages and spreads, and one weighted sum of covariances per column and set of weights; after as many sets
    of weights as there are columns it could reveal the covariances.
    """

    n_rows: int
    features: tuple[str, ...]
    mean: Float
    m2: Float
    sum_mean: Float
    products: Float

    def __add__(self, other: "Projections") -> "Projections":
        """The pairwise merge of moments: exact for the pooled rows up to rounding."""
        n_rows = self.n_rows + other.n_rows
        gap, sum_gap = other.mean - self.mean, other.sum_mean - self.sum_mean
        share, between = other.n_rows / n_rows, self.n_rows * other.n_rows / n_rows
        return Projections(
            n_rows,
            same_names(self.features, other.features),
            self.mean + gap * share,
            self.m2 + other.m2 + gap**2 * between,
            self.sum_mean + sum_gap * share,
            self.products + other.products + np.outer(gap, sum_gap) * between,
        )

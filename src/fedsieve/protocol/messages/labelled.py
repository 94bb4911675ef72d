"""The messages of federations whose sites hold labels themselves: information, covariances, partial correlations."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.protocol.messages.parts import Columns, Scaling, same_names


@dataclass(frozen=True, eq=False)
class AskInformation:
    """Server: what each feature tells of each label, and how far apart features are, in bins of this scaling.

    Reveals the federation's ranges to every client.
    """

    columns: Columns
    labels: tuple[str, ...]
    scaling: Scaling
    n_bins: int


@dataclass(frozen=True, eq=False)
class AskCovariances:
    """Server: means and covariances of features and labels. Reveals the columns the server looks at."""

    columns: Columns
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AskPartialCorrelations:
    """Server: the partial correlation of these pairs of variables given those others. Reveals what it considers.

    Variables are numbered: features first, then labels. `given` has one row per pair, (n_pairs, n_given).
    """

    columns: Columns
    labels: tuple[str, ...]
    first: Int
    second: Int
    given: Int


@dataclass(frozen=True, eq=False)
class Information:
    """Mutual information of features and labels, (n_features, n_labels), and the features' distances, in bits.

    A distance is H(f, g) - I(f; g); the strict upper triangle in row-major order. Reveals how a site's features and
    labels hang together, not a row; of two or three rows, which of them agree.
    """

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    relevance: Float
    apart: Float


@dataclass(frozen=True, eq=False)
class Covariances:
    """Means of features and labels, and the sums of products of their deviations, upper triangle in row-major order.

    Reveals averages, spreads and correlations of a site; of two rows, both rows up to their order.
    """

    n_rows: int
    features: tuple[str, ...]
    labels: tuple[str, ...]
    mean: Float
    upper: Float

    @classmethod
    def of(cls, features: tuple[str, ...], labels: tuple[str, ...], table: Float) -> "Covariances":
        """The message for rows of features and labels."""
        # Of a constant, rounding would be left: in its deviations, and between the means of two sites.
        mean = np.where(np.ptp(table, axis=0) > 0, table.mean(axis=0), table[0])
        centred = table - mean
        upper = (centred.T @ centred)[np.triu_indices(table.shape[1])]
        return cls(len(table), features, labels, mean, upper)

    def products(self) -> Float:
        """The symmetric matrix of sums of products."""
        rows, columns = np.triu_indices(len(self.mean))
        full = np.empty((len(self.mean), len(self.mean)))
        full[rows, columns] = self.upper
        full[columns, rows] = self.upper
        return full

    def __add__(self, other: "Covariances") -> "Covariances":
        """The pairwise merge of moments: exact for the pooled rows up to rounding."""
        n_rows = self.n_rows + other.n_rows
        gap = other.mean - self.mean
        between = np.outer(gap, gap)[np.triu_indices(len(gap))] * (self.n_rows * other.n_rows / n_rows)
        return Covariances(
            n_rows,
            same_names(self.features, other.features),
            same_names(self.labels, other.labels),
            self.mean + gap * (other.n_rows / n_rows),
            self.upper + other.upper + between,
        )


@dataclass(frozen=True, eq=False)
class PartialCorrelations:
    """One partial correlation per pair that was asked about; NaN where one of the pair is constant here.

    0 where the given variables determine one of the pair.

    Reveals how each of these pairs hangs together in a site once the given variables are accounted for.
    """

    n_rows: int
    values: Float

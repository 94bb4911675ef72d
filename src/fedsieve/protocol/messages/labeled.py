"""The messages of federations whose sites hold labels themselves: information, covariances, partial correlations."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError
from fedsieve.protocol.messages.parts import Columns, Scaling, column_means, same_names, square

LARGEST_FACTOR = 1e140  # values whose products, summed over any number of rows, are still numbers


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
    labels hang together in bins; with bins of the server's choice, how many values lie beyond an edge.
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
        if np.abs(table).max() > LARGEST_FACTOR:
            raise DataError(f"a value beyond ±{LARGEST_FACTOR:g}, whose products overflow. Rescale that column.")
        mean = column_means(table)
        centered = table - mean
        upper = (centered.T @ centered)[np.triu_indices(table.shape[1])]
        return cls(len(table), features, labels, mean, upper)

    def products(self) -> Float:
        """The symmetric matrix of sums of products."""
        return square(self.upper, len(self.mean))

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

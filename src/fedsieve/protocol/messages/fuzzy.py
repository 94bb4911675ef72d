"""Ranges, which several methods ask for, and the messages of SSFMLFS: moments, the graph in its three wire forms."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.protocol.messages.parts import Columns, Scaling, same_names, square


@dataclass(frozen=True, eq=False)
class Relation:
    """All a client needs to relate its rows: columns, scaling, the radius per feature, and the kind of relation."""

    columns: Columns
    scaling: Scaling
    radius: Float
    kind: str


@dataclass(frozen=True, eq=False)
class AskRanges:
    """Server: the smallest and largest value of each column, please. Reveals the columns the server looks at."""

    columns: Columns


@dataclass(frozen=True, eq=False)
class AskMoments:
    """Server: count, mean and spread of the scaled columns. Reveals the federation's ranges to every client."""

    columns: Columns
    scaling: Scaling


@dataclass(frozen=True, eq=False)
class AskRelations:
    """Server: the relation matrix of every feature. Reveals the federation's spreads to every client."""

    relation: Relation


@dataclass(frozen=True, eq=False)
class AskPairSums:
    """Server: the pair sums of the features. Reveals the federation's spreads to every client."""

    relation: Relation


@dataclass(frozen=True, eq=False)
class AskProducts:
    """Server: your distances times this vector. Reveals intermediate scores to every client.

    `relation` is `None` where it is the one of the request before.
    """

    relation: Relation | None
    vector: Float


@dataclass(frozen=True, eq=False)
class Ranges:
    """Smallest and largest present value per column. Reveals two values of each column, those of its extreme rows.

    An empty column has low = +inf and high = -inf.
    """

    n_rows: int
    features: tuple[str, ...]
    low: Float
    high: Float

    def __add__(self, other: "Ranges") -> "Ranges":
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Ranges(self.n_rows + other.n_rows, same_names(self.features, other.features), low, high)


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sum of squared deviations of the scaled columns, and how many values a declared range clipped.

    Reveals a site's averages and spreads; of two rows, both rows up to their order.
    """

    n_rows: int
    features: tuple[str, ...]
    count: Int
    mean: Float
    m2: Float
    n_clipped: int

    def __add__(self, other: "Moments") -> "Moments":
        """Chan's merge: exact for the pooled rows up to rounding, also with empty columns."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        delta = other.mean - self.mean
        # Where one side is empty its mean is 0 and means nothing.
        mean = np.where(self.count == 0, other.mean, self.mean + np.where(other.count == 0, 0.0, delta * share))
        m2 = self.m2 + other.m2 + np.where(self.count * other.count > 0, delta**2 * self.count * share, 0.0)
        n_rows, n_clipped = self.n_rows + other.n_rows, self.n_clipped + other.n_clipped
        return Moments(n_rows, same_names(self.features, other.features), count, mean, m2, n_clipped)


@dataclass(frozen=True, eq=False)
class Relations:
    """The fuzzy relation matrix of every feature, (n_features, n_rows, n_rows): the paper to the letter.

    Reveals every value of every row up to shift and mirror. It does not add up: the server reduces it on arrival.
    """

    n_rows: int
    features: tuple[str, ...]
    values: Float


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of min(r_p, r_b) over a client's row pairs, the upper triangle in row-major order.

    Reveals how alike any two features relate the rows; of two rows, how far apart they are in each feature.
    """

    n_rows: int
    features: tuple[str, ...]
    upper: Float

    @classmethod
    def of(cls, n_rows: int, features: tuple[str, ...], matrix: Float) -> "PairSums":
        """The message for a symmetric (n_features, n_features) matrix of sums."""
        return cls(n_rows, features, matrix[np.triu_indices(len(matrix))])

    def matrix(self) -> Float:
        """The symmetric matrix again."""
        return square(self.upper, len(self.features))

    def __add__(self, other: "PairSums") -> "PairSums":
        return PairSums(self.n_rows + other.n_rows, same_names(self.features, other.features), self.upper + other.upper)


@dataclass(frozen=True, eq=False)
class Products:
    """A client's distances, times n², times the vector it was asked about, for the features of the last relation.

    Reveals one weighted sum of distances per feature and round; after n_features rounds it could reveal the pair sums.
    """

    n_rows: int
    values: Float

    def __add__(self, other: "Products") -> "Products":
        return Products(self.n_rows + other.n_rows, self.values + other.values)

"""What several messages are made of, and the one reply that every method knows: a refusal."""

from dataclasses import dataclass

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import ProtocolError


@dataclass(frozen=True, eq=False)
class Columns:
    """Which columns are meant, by name, and how their values are to be read."""

    features: tuple[str, ...]
    nominal: tuple[str, ...]
    missing: str


@dataclass(frozen=True, eq=False)
class Scaling:
    """The range that becomes [0, 1], per feature; `None` where each site uses its own."""

    low: Float | None
    high: Float | None


@dataclass(frozen=True, eq=False)
class Refusal:
    """A client that cannot or will not answer, and why. Reveals what its reason says."""

    reason: str


def square(upper: Float, n: int, first: int = 0) -> Float:
    """The symmetric (n, n) matrix of an upper triangle, row by row from the diagonal (or `first` beside it) on."""
    rows, columns = np.triu_indices(n, first)
    full = np.zeros((n, n))
    full[rows, columns] = upper
    full[columns, rows] = upper
    return full


def same_names(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The names that two summaries are about; summaries of different columns do not add up."""
    if first != second:
        raise ProtocolError(f"summaries of different features do not add up: {first} and {second}.")
    return first


def column_means(table: Float) -> Float:
    """The mean of each column; of a constant one exactly its value.

    Rounding would be left otherwise: in its deviations, and between the means of two sites.
    """
    mean: Float = np.where(np.ptp(table, axis=0) > 0, table.mean(axis=0), table[0])
    return mean

"""What a site computes from its own rows: scaled columns, ranges, moments. Arrays in, messages out."""

import numpy as np

from fedsieve.arrays import Bool, Float, Rows, dense, is_sparse
from fedsieve.errors import ProtocolError
from fedsieve.protocol.messages import Moments, Ranges
from fedsieve.protocol.site import LARGEST

BLOCK = 256  # columns of a sparse table that are made dense at a time


def ranges_of(X: Rows, features: tuple[str, ...]) -> Ranges:
    """Smallest and largest present value of each column; +inf and -inf for a column without any.

    >>> ranges_of(np.array([[1.0, np.nan], [3.0, 5.0]]), ("a", "b")).high
    array([3., 5.])
    """
    blocks = [
        (np.fmin.reduce(block, axis=0, initial=np.inf), np.fmax.reduce(block, axis=0, initial=-np.inf))
        for block in _dense_blocks(X)
    ]
    low, high = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Ranges(X.shape[0], features, low, high)


def scaled(X: Rows, low: Float, high: Float, nominal: Bool) -> tuple[Float, int]:
    """The columns of X with [low, high] moved to [0, 1], and how many present values lay outside and were clipped.

    A range of one point becomes 0. Nominal columns are codes and stay as they are.

    >>> X, nominal = np.array([[1.0, 7.0], [3.0, 9.0], [8.0, 7.0]]), np.array([False, True])
    >>> scaled(X, np.array([1.0, 0]), np.array([5.0, 0]), nominal)
    (array([[0. , 7. ],
           [0.5, 9. ],
           [1. , 7. ]]), 1)
    """
    table = dense(X)
    empty = low > high  # nobody has a value here
    low, high = np.where(empty | nominal, 0.0, low), np.where(empty | nominal, 1.0, high)
    outside = ((table < low) | (table > high)) & ~nominal
    width = np.where(high > low, high - low, 1.0)
    inside = np.where(nominal, table, np.clip(table, low, high))
    return (inside - low) / width, int(outside.sum())


def check_ranges_hold(low: Float, high: Float, X: Rows) -> None:
    """Refuse ranges that do not hold a site's own values: with edges of its choice a server could count values."""
    own = ranges_of(X, ())
    if low.shape != own.low.shape or high.shape != own.high.shape:
        raise ProtocolError(f"was sent {low.size} and {high.size} ends of ranges for {len(own.low)} columns.")
    if not np.all((low >= -LARGEST) & (low <= own.low) & (own.high <= high) & (high <= LARGEST)):
        raise ProtocolError("was sent ranges that do not hold its own values; federated ranges hold those of all.")


def moments_of(X: Float, features: tuple[str, ...], n_clipped: int = 0) -> Moments:
    """Count, mean and summed squared deviation of each column's present values.

    Deviations are taken from the column's smallest present value, so that a constant column has exactly m2 = 0.

    >>> moments_of(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, np.nan]]), ("a", "b")).m2
    array([0., 2.])
    """
    X = np.ascontiguousarray(X)  # numpy adds columns of the other layout up in another order
    present = ~np.isnan(X)
    count = present.sum(axis=0)
    smallest = np.where(count > 0, np.fmin.reduce(X, axis=0, initial=np.inf), 0.0)
    shifted = np.where(present, X - smallest, 0.0)
    offset = shifted.sum(axis=0) / np.maximum(count, 1)
    m2 = np.where(present, (shifted - offset) ** 2, 0.0).sum(axis=0)
    return Moments(len(X), features, count.astype(np.int64), smallest + offset, m2, n_clipped)


def is_unscaled_binary(X: Rows, low: Float, high: Float) -> bool:
    """Whether a sparse 0/1 table is its own scaled version, so that it need not be made dense."""
    unit = ((low == 0) | (low == high)) & ((high == 1) | (low == high))
    # An entry stored in parts would count twice, so only a canonical table may pass.
    return is_sparse(X) and bool(np.all(X.data == 1)) and bool(np.all(unit)) and bool(X.has_canonical_format)


def _dense_blocks(X: Rows) -> list[Float]:
    if not is_sparse(X):
        return [X]
    by_column = X.tocsc()
    return [by_column[:, first : first + BLOCK].toarray() for first in range(0, X.shape[1], BLOCK)]

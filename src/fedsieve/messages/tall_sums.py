"""Sums and products of a tall table of numbers in one pass: read, subtract, multiply, while a block is in cache.

What takes most of the time of a tall table is not the products but the passes around them: finding bad values,
clipping, finding the mean and the largest difference. The site's own ranges, which it looks up anyway, tell all of that
before.
"""

from collections.abc import Iterator

import numpy as np

from fedsieve.arrays import Float
from fedsieve.messages.encoding import Encoding
from fedsieve.messages.ranges import Ranges
from fedsieve.tables import Table
from fedsieve.values import dense

BLOCK_ROWS = 1024
TALL_BLOCKS = 4  # and twice as many rows as columns: shorter tables gain nothing
LARGEST_DIFFERENCE, SMALLEST_DIFFERENCE = 1e100, 1e-100  # whose squares add up without overflow or underflow


def tall_sums(table: Table, features: tuple[str, ...], encoding: Encoding, own: Ranges) -> tuple[Float, Float] | None:
    """Sums and sums of products of encoded columns, as `Centered` gives them; `None` where that is for others to do.

    That is where columns are codes, where values are missing, and where differences are so large or small that their
    squares need a scale. The value that is taken away is one of the column's own, so that a constant leaves exactly 0.
    """
    if not _is_tall(table, features) or not encoding.numbers.all() or not _are_plain(own, encoding):
        return None
    sums, products = np.zeros(len(features)), np.zeros((len(features), len(features)))
    rows, ones = _Differences(table, features, _clip(own, encoding)), np.ones(BLOCK_ROWS)
    for difference in rows:
        sums += ones[: len(difference)] @ difference
        products += difference.T @ difference  # one triangle of it is computed
    width = encoding.widths
    offset = (rows.base - encoding.middles) / width
    sums /= width
    mixed = np.outer(sums, offset)
    products = products / width / width[:, None] + mixed + mixed.T + table.n_rows * np.outer(offset, offset)
    return sums + table.n_rows * offset, products


def tall_projections(
    table: Table, features: tuple[str, ...], encoding: Encoding, own: Ranges, weights: Float
) -> tuple[Float, Float, Float] | None:
    """Sums, sums of squares, and sums of products with weighted sums of all columns; `None` for others as above."""
    if not _is_tall(table, features) or not encoding.numbers.all() or not _are_plain(own, encoding):
        return None
    width = encoding.widths
    sums, squares, products = np.zeros(len(features)), np.zeros(len(features)), np.zeros(weights.shape)
    rows, ones, by_width = (
        _Differences(table, features, _clip(own, encoding)),
        np.ones(BLOCK_ROWS),
        weights / width[:, None],
    )
    for difference in rows:
        sums += ones[: len(difference)] @ difference
        products += difference.T @ (difference @ by_width)
        squares += ones[: len(difference)] @ np.square(difference, out=difference)
    offset, n_rows = (rows.base - encoding.middles) / width, table.n_rows
    sums /= width
    squares = squares / width**2 + 2 * sums * offset + n_rows * offset**2
    constant = offset @ weights
    products = products / width[:, None] + np.outer(sums, constant) + np.outer(offset, sums @ weights)
    return sums + n_rows * offset, squares, products + n_rows * np.outer(offset, constant)


def tall_moments(table: Table, features: tuple[str, ...], own: Ranges) -> tuple[Float, Float] | None:
    """Means and summed squared deviations of columns as they are; `None` for others as above."""
    if not _is_tall(table, features) or not _are_plain(own):
        return None
    sums, squares = np.zeros(len(features)), np.zeros(len(features))
    rows, ones = _Differences(table, features), np.ones(BLOCK_ROWS)
    for difference in rows:
        sums += ones[: len(difference)] @ difference
        squares += ones[: len(difference)] @ np.square(difference, out=difference)
    offset = sums / table.n_rows
    return rows.base + offset, np.maximum(squares - sums * offset, 0.0)


def _is_tall(table: Table, features: tuple[str, ...]) -> bool:
    return table.n_rows >= max(TALL_BLOCKS * BLOCK_ROWS, 2 * len(features))


def _are_plain(own: Ranges, encoding: Encoding | None = None) -> bool:
    """Whether nothing is missing, and differences have squares."""
    low, high = own.low, own.high
    if encoding is not None:
        low, high = np.clip(low, encoding.low, encoding.high), np.clip(high, encoding.low, encoding.high)
    span = high - low
    small = (span > 0) & (span < SMALLEST_DIFFERENCE)
    return not own.n_missing and not np.any(small | (span > LARGEST_DIFFERENCE))


def _clip(own: Ranges, encoding: Encoding) -> tuple[Float, Float] | None:
    """The ends beyond which some values lie; `None` where none do."""
    outside = np.any(own.low < encoding.low) or np.any(own.high > encoding.high)
    return (encoding.low, encoding.high) if outside else None


class _Differences:
    """The rows of a table, some at a time, from a value of their own, `base`; whoever is given them may change them.

    The value is near the mean of the first rows, so that few digits are lost.
    """

    def __init__(self, table: Table, features: tuple[str, ...], ends: tuple[Float, Float] | None = None) -> None:
        self.base = np.zeros(len(features))
        self._table, self._features, self._ends = table, features, ends

    def __iter__(self) -> Iterator[Float]:
        room, is_first = np.empty((BLOCK_ROWS, len(self._features))), True
        for batch in self._table.batches(self._features):
            rows = dense(batch)
            for start in range(0, len(rows), BLOCK_ROWS):
                block = rows[start : start + BLOCK_ROWS]
                if self._ends is not None:
                    block = np.clip(block, *self._ends)
                if is_first:
                    near = np.abs(block - block.mean(axis=0)).argmin(axis=0)
                    self.base, is_first = block[near, np.arange(len(self._features))], False
                yield np.subtract(block, self.base, out=room[: len(block)])

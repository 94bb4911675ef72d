"""Columns of a table larger than memory that miss values, beside copies of them that have odd rows there.

They are those that `near_copies.copies_with_gaps` finds in memory. What a sample of rows does not rule out is looked at
in passes over the table.
"""

from collections.abc import Iterator, Sequence, Set

import numpy as np

from fedsieve.arrays import Float
from fedsieve.privacy.near_copies import CLOSE, multiples
from fedsieve.privacy.streamed_copies import StreamedRows, tells_little
from fedsieve.value_counts import Others
from fedsieve.values import present_values

AT_ONCE = 1 << 16  # pairs of columns whose gaps are looked at in one pass


def streamed_copies_with_gaps(rows: StreamedRows, constant: Set[str], min_cell: int) -> Iterator[tuple[str, str]]:
    """Columns that miss values, each with one that it is a multiple of elsewhere and that has a few odd rows there."""
    columns, sample = rows.columns, rows.sample
    thin = np.array([tells_little(values, 1) for values in sample.T])
    pairs: list[tuple[int, int]] = []
    for place, column in enumerate(columns):
        if column.has_gaps and column.has_values:
            known = ~np.isnan(sample[:, place])
            alike = thin | thin[place]
            if not thin[place]:
                alike[multiples(sample[known], sample[known, place])] = True
            others = np.flatnonzero(alike).tolist()
            pairs += [(place, other) for other in others if other != place and columns[other].name not in constant]
    for first in range(0, len(pairs), AT_ONCE):
        odd = _few_odd(rows, pairs[first : first + AT_ONCE], min_cell)
        for place, other in _multiples_of_all(rows, odd):
            yield columns[place].name, columns[other].name


def _few_odd(rows: StreamedRows, pairs: Sequence[tuple[int, int]], min_cell: int) -> list[tuple[int, int]]:
    """Those of which the second column has a few rows that differ from the others where the first misses values."""
    odd = {pair: Others(min_cell) for pair in pairs}
    left = list(pairs)
    for batch in rows.batches():
        left = [pair for pair in left if not odd[pair].is_known]
        for place in {place for place, _ in left}:
            in_gaps = batch[np.isnan(batch[:, place])]
            for pair in left:
                if pair[0] == place:
                    odd[pair].add(present_values(in_gaps[:, pair[1]]))
        if not left:
            break
    return [pair for pair, others in odd.items() if 0 < others.n_others < min_cell]


def _multiples_of_all(rows: StreamedRows, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those of which the second column is a multiple of the first wherever that has values."""
    found = {pair: _Products() for pair in pairs}
    for batch in rows.batches() if pairs else ():
        for pair, products in found.items():
            products.add(batch[~np.isnan(batch[:, pair[0]])][:, pair])
    for pair, products in found.items():
        if products.are_of_multiples():
            yield pair


class _Products:
    """Of two columns the products of what they are off their means, which are taken anew with each batch.

    From any other value digits would be lost: columns lie far from 0, and what stands for their gaps far from them. The
    means are told from the first row, or they would be as coarse as numbers so large are.
    """

    def __init__(self) -> None:
        self._n_rows, self._first, self._mean, self._products = 0, np.zeros(2), np.zeros(2), np.zeros((2, 2))

    def add(self, rows: Float) -> None:
        if not len(rows):
            return
        if not self._n_rows:
            self._first = rows[0]
        rows = rows - self._first
        mean, before, self._n_rows = rows.mean(axis=0), self._n_rows, self._n_rows + len(rows)
        step, rest = mean - self._mean, rows - mean
        self._products += rest.T @ rest + np.outer(step, step) * (before * len(rows) / self._n_rows)
        self._mean += step * (len(rows) / self._n_rows)

    def are_of_multiples(self) -> bool:
        length = np.sqrt(self._products[0, 0]) * np.sqrt(self._products[1, 1])
        return bool(abs(self._products[0, 1]) > (1 - CLOSE) * max(length, np.finfo(np.float64).tiny))

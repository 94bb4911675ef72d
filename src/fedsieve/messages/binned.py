"""How the values of a table are spread over bins."""

import numpy as np

from fedsieve.arrays import Int
from fedsieve.measures.binning import bin_counts
from fedsieve.messages.columns import Bins, Columns
from fedsieve.tables import Table, checked_batches, dense_blocks


def counts_of(table: Table, columns: Columns, bins: Bins) -> Int:
    """How many of a table's values lie in each bin.

    >>> from fedsieve.tables import ArrayTable
    >>> table = ArrayTable(("a", "b"), np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> counts_of(table, Columns(("a", "b"), (), "error"), Bins.of([np.array([0.0, 2.0]), np.array([5.0, 6.0])]))
    array([0, 1, 1, 0, 2, 0])
    """
    edges = bins.by_column()
    counts = [np.zeros(len(part) + 1, dtype=np.int64) for part in edges]
    for batch in checked_batches(table, columns.features, columns.missing):
        for first, block in dense_blocks(batch):
            for place, column in enumerate(block.T, start=first):
                counts[place] += bin_counts(column, edges[place])
    return np.concatenate([np.zeros(0, np.int64), *counts])

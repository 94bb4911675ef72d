"""How the values of a table are spread over bins."""

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Float, Int
from fedsieve.measures.binning import bin_counts_of
from fedsieve.messages.columns import Bins, Columns
from fedsieve.tables import Table, checked_batches
from fedsieve.values import dense_blocks

COMPILED_ROWS = 1 << 16  # of a table, from which on loading the compiler pays


def counts_of(table: Table, columns: Columns, bins: Bins) -> Int:
    """How many of a table's values lie in each bin.

    >>> from fedsieve.tables import ArrayTable
    >>> table = ArrayTable(("a", "b"), np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> counts_of(table, Columns(("a", "b"), (), "error"), Bins.of([np.array([0.0, 2.0]), np.array([5.0, 6.0])]))
    array([0, 1, 1, 0, 2, 0])
    """
    added = table.in_parts(lambda part: counts_of(part, columns, bins))
    if added is not None:
        return added
    edges, ends = bins.by_column(), np.concatenate([[0], np.cumsum(bins.n_edges + 1)])
    counted = kernels.counts_in_bins if table.n_rows >= COMPILED_ROWS else _counts_in_bins
    counts = np.zeros(ends[-1], dtype=np.int64)
    for batch in checked_batches(table, columns.features, columns.missing):
        for first, block in dense_blocks(batch):
            last = first + block.shape[1]
            counts[ends[first] : ends[last]] += counted(block, edges[first:last])
    return counts


def _counts_in_bins(block: Float, edges: list[Float]) -> Int:
    """One column's bins after the other's; columns of the same edges, as all of 0 and 1 have, are counted at once."""
    alike: dict[bytes, list[int]] = {}
    for place, part in enumerate(edges):
        alike.setdefault(part.tobytes(), []).append(place)
    if len(alike) == 1:
        return bin_counts_of(block, edges[0]).ravel()
    found: dict[int, Int] = {}
    for places in alike.values():
        found |= zip(places, bin_counts_of(block[:, places], edges[places[0]]), strict=True)
    return np.concatenate([np.zeros(0, np.int64), *(found[place] for place in range(len(edges)))])

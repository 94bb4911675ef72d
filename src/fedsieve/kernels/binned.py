"""How many values of each column lie in each bin: the fast twin of `measures.binning.bin_counts`, for tall tables."""

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled

CELLS = 512  # of equal width between a column's outermost edges: where to begin to look for a value's bin


def counts_in_bins(rows: Float, edges: list[Float]) -> Int:
    """The counts of all columns one after the other; a value on an edge lies above it, missing ones in no bin.

    >>> counts_in_bins(np.array([[-1.0], [0.0], [2.0], [np.nan]]), [np.array([0.0, 1.0])])
    array([1, 1, 1])
    """
    starts = np.concatenate([[0], np.cumsum([len(part) for part in edges])]).astype(np.int64)
    counts = np.zeros(starts[-1] + len(edges), dtype=np.int64)
    if len(edges):
        _count(np.asfortranarray(rows), np.concatenate(edges), starts, counts)
    return counts


@compiled
def _count(rows: Float, edges: Float, starts: Int, counts: Int) -> None:
    begin = np.empty(CELLS, dtype=np.int64)
    for column in range(rows.shape[1]):
        own = edges[starts[column] : starts[column + 1]]
        n_edges, low = len(own), own[0]
        width = own[-1] - low
        # 0 where the span is too small, or overflows: the search then begins at the first edge
        per_cell = CELLS / width if width > 1e-300 * CELLS else 0.0
        place = 0
        for cell in range(CELLS):
            while per_cell > 0.0 and place < n_edges and own[place] <= low + cell / per_cell:
                place += 1
            begin[cell] = place
        first = starts[column] + column
        for row in range(rows.shape[0]):
            value = rows[row, column]
            if np.isnan(value):
                continue
            x = (value - low) * per_cell if per_cell > 0.0 else 0.0
            place = begin[int(min(max(x, 0.0), CELLS - 1.0))]
            while place > 0 and own[place - 1] > value:  # rounding may begin too far up
                place -= 1
            while place < n_edges and own[place] <= value:
                place += 1
            counts[first + place] += 1

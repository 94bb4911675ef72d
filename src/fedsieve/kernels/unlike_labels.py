"""The rows with the least similar label sets, found by distinct sets in bits: no matrix of similarities.

Of two sets with a and b of L labels and c in common, Pearson's correlation is (c L - a b) / √(a (L - a) b (L - b)):
whole numbers up to the root, so that equal sets tie. Rows with one label set have the same similarities; of each set
the first rows are enough.
"""

import numpy as np
from numpy.typing import NDArray

from fedsieve.arrays import Float, Int
from fedsieve.kernels.compiled import compiled, popcount
from fedsieve.kernels.threads import parallel_map

TASK = 128  # sets
UNIT = 1e12  # similarities are compared to twelve decimals


def least_similar_sets(Y: Float, n_neighbors: int, nonnegative: bool, n_threads: int | None = None) -> Int:
    """For each row of the 0/1 table Y, `fuzzy.least_similar`: (n_samples, n_neighbors), -1 where there is none."""
    n_samples, n_labels = Y.shape
    bits = _packed(Y)
    _, first, set_of, n_members = np.unique(
        bits.view(f"V{8 * bits.shape[1]}").ravel(), return_index=True, return_inverse=True, return_counts=True
    )
    sets, members = bits[first], np.argsort(set_of, kind="stable")  # the rows of each set, in their order
    starts = np.concatenate([[0], np.cumsum(n_members)])
    size = Y[first].sum(axis=1).astype(np.int64)
    spread = size * (n_labels - size)
    scale = np.divide(1.0, np.sqrt(spread), out=np.zeros(len(spread)), where=spread > 0)  # constant rows resemble none
    found = np.empty((n_samples, n_neighbors), dtype=np.int64)

    def work(start: int) -> None:
        stop = min(start + TASK, len(sets))
        _search(sets, size, scale, n_labels, members, starts, start, stop, nonnegative, found)

    for _ in parallel_map(work, range(0, len(sets), TASK), n_threads):
        pass
    return found


def _packed(Y: Float) -> NDArray[np.uint64]:
    n_words = (Y.shape[1] + 63) // 64
    as_bytes = np.zeros((len(Y), 8 * n_words), dtype=np.uint8)
    packed = np.packbits(Y.astype(bool), axis=1)
    as_bytes[:, : packed.shape[1]] = packed
    return as_bytes.view(np.uint64)


@compiled
def _search(
    sets: NDArray[np.uint64],
    size: Int,
    scale: Float,
    n_labels: int,
    members: Int,
    starts: Int,
    first: int,
    stop: int,
    nonnegative: bool,
    found: Int,
) -> None:
    """Of each set the `n_kept` least similar rows so far, in order; one more than asked for: one may be itself."""
    n_sets, n_words = sets.shape
    n_kept = found.shape[1] + 1
    similarity, row = np.empty(n_kept), np.empty(n_kept, dtype=np.int64)
    for a in range(first, stop):
        n_held = 0
        for b in range(n_sets):
            common = 0
            for word in range(n_words):
                common += popcount(sets[a, word] & sets[b, word])
            value = np.rint((common * n_labels - size[a] * size[b]) * (scale[a] * scale[b]) * UNIT)
            if (nonnegative and value < 0) or (n_held == n_kept and value > similarity[n_kept - 1]):
                continue
            for m in range(starts[b], min(starts[b + 1], starts[b] + n_kept)):
                candidate, place = members[m], n_held
                while place > 0 and (
                    value < similarity[place - 1] or (value == similarity[place - 1] and candidate < row[place - 1])
                ):
                    place -= 1
                if place == n_kept:
                    break
                n_held = min(n_held + 1, n_kept)
                for k in range(n_held - 1, place, -1):
                    similarity[k], row[k] = similarity[k - 1], row[k - 1]
                similarity[place], row[place] = value, candidate
        for m in range(starts[a], starts[a + 1]):
            taken = 0
            for k in range(n_held):
                if row[k] != members[m] and taken < n_kept - 1:
                    found[members[m], taken] = row[k]
                    taken += 1
            found[members[m], taken:] = -1

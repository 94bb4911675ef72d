"""The correlation distance times a vector, from pair sums, without forming the distance.

Additions are made in one fixed order (not by BLAS): a site's process and a simulation agree to the last bit.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import DataError
from fedsieve.kernels.compiled import compiled
from fedsieve.kernels.threads import in_order

BLOCK = 512


def distance_product(pair_sums: Float, vector: Float, n_threads: int | None = None) -> Float:
    """y_p = Σ_b (S_p + S_b - 2 S_pb) v_b: n² times the distance D, times v.

    Products of clients add up, since pair sums do; the division by the n² of all rows comes last, at the server.

    >>> distance_product(np.array([[3.0, 2.0], [2.0, 2.0]]), np.array([1.0, 10.0]))
    array([10.,  1.])
    """
    n_features = len(vector)
    if pair_sums.shape != (n_features, n_features):
        raise DataError(f"kernels.distance_product: {pair_sums.shape} sums for a vector of {n_features} features.")
    result = np.zeros(n_features)
    own = np.diagonal(pair_sums).copy()

    def work(first: int) -> None:
        _block_product(pair_sums, own, vector, first, min(first + BLOCK, n_features), result)

    for _ in in_order(work, range(0, n_features, BLOCK), n_threads):
        pass
    return result


@compiled
def _block_product(pair_sums: Float, own: Float, vector: Float, first: int, stop: int, result: Float) -> None:
    for b in range(len(vector)):  # the sums are symmetric: walking down b keeps memory contiguous
        for p in range(first, stop):
            result[p] += (own[p] + own[b] - 2.0 * pair_sums[b, p]) * vector[b]

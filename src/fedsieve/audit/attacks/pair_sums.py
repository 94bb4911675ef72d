"""0/1 rows from SSFMLFS's pair sums: they are inner products in disguise.

With columns s of ±1, two rows are alike in column p where s_ip s_jp = 1, so that
4 S_pb = Σ_ij (1 + s_ip s_jp)(1 + s_ib s_jb) = n² + (Σ s_p)² + (Σ s_b)² + (s_p · s_b)².
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.signs import settled
from fedsieve.messages.moments import Moments
from fedsieve.messages.pair_sums import PairSums


def gram_of_pair_sums(moments: Moments, pair_sums: PairSums) -> Gram:
    """The sums of products of 0/1 columns, as covariances would give them."""
    chosen = [moments.features.index(name) for name in pair_sums.features]
    n, sums = pair_sums.n_rows, np.round((2 * moments.mean[chosen] - 1) * pair_sums.n_rows)
    return settled(n, sums, sizes_of_products(n, sums, pair_sums.matrix()))


def sizes_of_products(n_rows: int, sums: Float, pair_sums: Float) -> Float:
    """The inner products of the ±1 columns, without their signs."""
    squares = 4 * pair_sums - n_rows**2 - sums[:, None] ** 2 - sums**2
    return np.sqrt(np.maximum(squares, 0.0)).round()

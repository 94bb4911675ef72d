"""Pair sums from SSFMLFS's products: every round is one equation per feature about the same symmetric distances."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.pair_sums import sizes_of_products
from fedsieve.audit.attacks.signs import settled
from fedsieve.messages.moments import Moments


def distances_of_products(vectors: Float, products: Float) -> Float:
    """The symmetric D, 0 on its diagonal, that is nearest to D v = y for all rounds: (n_rounds, n_features) each."""
    n_rounds, d = vectors.shape
    p, b = np.triu_indices(d, 1)
    unknown = np.arange(len(p))
    equations = np.zeros((n_rounds, d, len(p)))
    equations[:, p, unknown] += vectors[:, b]
    equations[:, b, unknown] += vectors[:, p]
    weight = 1 / np.abs(vectors).max(axis=1)
    matrix, right = equations * weight[:, None, None], products * weight[:, None]
    found = np.linalg.lstsq(matrix.reshape(-1, len(p)), right.ravel(), rcond=1e-15)[0]
    D = np.zeros((d, d))
    D[p, b] = D[b, p] = found
    return D


def gram_of_products(moments: Moments, features: tuple[str, ...], vectors: Float, products: Float) -> Gram:
    """The Gram matrix of 0/1 columns, if the rounds settle the distances: S_pb = (S_p + S_b - D_pb) / 2."""
    n, chosen = moments.n_rows, [moments.features.index(name) for name in features]
    sums = np.round((2 * moments.mean[chosen] - 1) * n)
    own = (n**2 + sums**2) / 2
    pair_sums = (own[:, None] + own - np.round(distances_of_products(vectors, products))) / 2
    return settled(n, sums, sizes_of_products(n, sums, pair_sums))

"""Lenstra, Lenstra and Lovász's reduction of a lattice that is known by inner products alone, in whole numbers.

The audit reads rows with it; no selection needs it.
"""

import numpy as np

from fedsieve.arrays import Int
from fedsieve.kernels.compiled import compiled

NEARLY_HALF = 0.501  # up to which a vector counts as reduced by another: at 1/2 it would go to and fro for ever


@compiled
def reduce_lattice(z: Int, gram: Int, delta: float) -> None:
    """LLL in place, on combinations `z` of the generators and on their Gram matrix, which has full rank."""
    n = len(gram)
    mu, r = np.zeros((n, n)), np.zeros((n, n))
    k = 0
    while k < n:
        for _ in range(100):  # until nothing changes: a large multiple is known to 53 bits only
            for j in range(k + 1):
                value = float(gram[k, j])
                for i in range(j):
                    value -= mu[j, i] * r[k, i]
                r[k, j] = value
                mu[k, j] = value / r[j, j]
            changed = False
            for j in range(k - 1, -1, -1):
                if abs(mu[k, j]) > NEARLY_HALF:
                    times, changed = int(np.round(mu[k, j])), True
                    z[k] -= times * z[j]
                    gram[k] -= times * gram[j]
                    gram[:, k] -= times * gram[:, j]
                    mu[k, :j] -= times * mu[j, :j]
            if not changed:
                break
        if k > 0 and r[k, k] < (delta - mu[k, k - 1] ** 2) * r[k - 1, k - 1]:
            for i in range(n):
                z[k, i], z[k - 1, i] = z[k - 1, i], z[k, i]
            for i in range(n):
                gram[k, i], gram[k - 1, i] = gram[k - 1, i], gram[k, i]
            for i in range(n):
                gram[i, k], gram[i, k - 1] = gram[i, k - 1], gram[i, k]
            k -= 1
        else:
            k += 1

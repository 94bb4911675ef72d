"""Short vectors of a lattice that is known by the inner products of its generators alone: LLL on an exact Gram matrix.

If X has whole numbers, XᵀX is such a matrix: the columns of X generate a lattice within Zⁿ. A combination z of columns
with zᵀXᵀXz = 1 is a unit vector, X z = ±e_i, whoever turned the rows by however unknown a rotation; and then
(XᵀX) z = ±X_i is row i.
"""

import numpy as np
from numba import njit

from fedsieve.arrays import Int

DELTA = 0.99  # of Lovász's condition: nearer to 1 finds shorter vectors, and takes longer
NEARLY_HALF = 0.501  # up to which a vector counts as reduced by another: at 1/2 it would go to and fro for ever
HEAVY = 1 << 20  # what a vector's length weighs beside the size of its combination


def short_combinations(gram: Int) -> tuple[Int, Int]:
    """Combinations z of the generators that form a reduced basis, one per row, and their squared lengths zᵀGz.

    Generators may depend on each other: combinations are kept small by the way, so that those which give 0 come out
    first, and are left out here. Exact in whole numbers.

    >>> short_combinations(np.array([[5, 3], [3, 2]]))[1]
    array([1, 1])
    """
    n = len(gram)
    z = np.eye(n, dtype=np.int64)
    _reduce(z, HEAVY * np.asarray(gram, dtype=np.int64) + z, DELTA)
    lengths = np.einsum("ij,jk,ik->i", z, gram, z)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    return z[order], lengths[order]


@njit(cache=True)
def _reduce(z: np.ndarray, gram: np.ndarray, delta: float) -> None:
    """LLL in place, on combinations and on their Gram matrix, which has full rank."""
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

"""Short vectors of a lattice that is known by the inner products of its generators alone: LLL on an exact Gram matrix.

If X has whole numbers, XᵀX is such a matrix: the columns of X generate a lattice within Zⁿ. A combination z of columns
with zᵀXᵀXz = 1 is a unit vector, X z = ±e_i, whoever turned the rows by however unknown a rotation; and then
(XᵀX) z = ±X_i is row i.
"""

import numpy as np

from fedsieve import kernels
from fedsieve.arrays import Int

DELTA = 0.99  # of Lovász's condition: nearer to 1 finds shorter vectors, and takes longer
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
    kernels.reduce_lattice(z, HEAVY * np.asarray(gram, dtype=np.int64) + z, DELTA)
    lengths = np.einsum("ij,jk,ik->i", z, gram, z)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    return z[order], lengths[order]

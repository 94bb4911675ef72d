"""All rows of a table of whole numbers from its Gram matrix, where rows are not many more than columns."""

import numpy as np

from benchmarks.privacy.attacks.gram import Gram
from benchmarks.privacy.attacks.lattice import short_combinations
from fedsieve.arrays import Float

N_SHUFFLES = 0
NEGATIVE = 1e-6  # what rounding may make of an eigenvalue 0, per column


def rows_from_products(gram: Gram, n_shuffles: int = N_SHUFFLES) -> Float:
    """The rows (of all columns) that short combinations of the whole-numbered columns single out.

    `n_shuffles` repeats the reduction in another order, which finds more where rows are many.
    """
    whole, places = gram.whole()
    if np.linalg.eigvalsh(whole)[0] < -NEGATIVE * len(whole):
        return np.empty((0, len(gram.products) - 1))  # guessed signs went wrong: these are products of no table
    rng = np.random.default_rng(0)
    z, lengths = short_combinations(whole)
    for _ in range(n_shuffles):
        if (lengths == 1).all():
            break
        z = z[rng.permutation(len(z))]
        step, lengths = short_combinations(z @ whole @ z.T)
        z = step @ z
    unit = z[lengths == 1]
    rows = unit @ gram.products[places]
    return rows[:, 1:] * np.sign(rows[:, :1])  # the column of ones says which sign is right

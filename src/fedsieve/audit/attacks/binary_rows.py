"""All rows of a table of whole numbers from its Gram matrix, where rows are not many more than columns."""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram
from fedsieve.audit.attacks.lattice import short_combinations

N_SHUFFLES = 0
NEGATIVE = 1e-6  # what rounding may make of an eigenvalue 0, per column


def rows_from_products(gram: Gram, n_shuffles: int = N_SHUFFLES, most_columns: int | None = None) -> Float:
    """The rows (of all columns) that short combinations of the whole-numbered columns single out.

    `n_shuffles` repeats the reduction in another order, which finds more where rows are many; `most_columns` makes the
    lattice of no more columns than these, which takes less time and is enough where they are more than the rows.
    """
    whole, places = gram.whole()
    whole, places = whole[:most_columns, :most_columns], places[:most_columns]
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
    rows: Float = unit @ gram.products[places]
    return rows[:, 1:] * np.sign(rows[:, :1])  # the column of ones says which sign is right

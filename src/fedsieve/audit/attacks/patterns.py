"""Which 0/1 rows a table must hold, given its Gram matrix: exact, for few columns, by integer programs.

Every possible row is a pattern r of 0 and 1, and the table is how often each occurs: whole numbers c_r >= 0 with
Σ c_r r rᵀ = XᵀX. No attack on the Gram matrix alone can be surer of a row than the least c_r of all solutions.
"""

from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from fedsieve.arrays import Float

TIME_LIMIT = 2.0  # seconds per program; one that is not done by then has shown nothing


def certain_rows(products: Float, suspects: Float) -> Float:
    """Those of the suspects that are in every table with this Gram matrix, as often as they must be.

    `products` has the column of ones first. An attacker would suspect all patterns; to count what it finds, the
    table's own rows are enough, since no other row can be in every solution.
    """
    d = len(products) - 1
    patterns = np.array([(1.0, *row) for row in product((0.0, 1.0), repeat=d)])
    p, b = np.triu_indices(d + 1)
    equations = LinearConstraint(patterns[:, p].T * patterns[:, b].T, products[p, b], products[p, b])
    found = []
    for row in np.unique(suspects, axis=0):
        count = (patterns[:, 1:] == row).all(axis=1).astype(float)
        limits = {"constraints": equations, "integrality": np.ones(len(patterns)), "bounds": Bounds(0, np.inf)}
        program = milp(count, **limits, options={"time_limit": TIME_LIMIT})
        if program.status == 0:
            found += [row] * round(program.fun)
    return np.array(found).reshape(-1, d)

"""The Gram matrix of ±1 columns, of which the inner products are known up to their signs.

Pair sums and information say how often two 0/1 columns take values together only up to swapping agreement for
disagreement. Counts must be whole and fit the margins, and the matrix must belong to vectors of n numbers: that leaves
few signs open, and a projection to such matrices, again and again, settles them.
"""

import numpy as np

from fedsieve.arrays import Bool, Float
from fedsieve.audit.attacks.gram import Gram

N_STARTS, N_STEPS = 3, 50


def signed_products(n_rows: int, sums: Float, sizes: Float) -> tuple[Float, Bool]:
    """Inner products with the signs that whole counts allow, and which of them are sure; `sums` are of the columns."""
    allowed = [_is_count(n_rows, sums, sign * sizes) for sign in (1.0, -1.0)]
    signed = np.where(allowed[0], sizes, -sizes)
    return signed, (allowed[0] != allowed[1]) | (sizes == 0)


def settled(n_rows: int, sums: Float, sizes: Float) -> Gram:
    """The Gram matrix of the 0/1 columns; its open signs are those of the best of several starts."""
    signed, sure = signed_products(n_rows, sums, sizes)
    np.fill_diagonal(signed, n_rows)
    whole = np.block([[np.full((1, 1), float(n_rows)), sums[None, :]], [sums[:, None], signed]])
    open_ = np.zeros(whole.shape, dtype=bool)
    open_[1:, 1:] = ~sure & ~np.eye(len(sums), dtype=bool)
    return _as_counts(_projected(whole, open_, n_rows) if open_.any() else whole)


def _is_count(n_rows: int, sums: Float, products: Float) -> Bool:
    """Whether the rows in which both columns are 1 are a possible number of rows."""
    both = (n_rows + sums[:, None] + sums + products) / 4
    ones = (n_rows + sums) / 2
    most, least = np.minimum(ones[:, None], ones), np.maximum(ones[:, None] + ones - n_rows, 0)
    return (np.abs(both - np.round(both)) < 1e-6) & (both > least - 0.5) & (both < most + 0.5)


def _projected(whole: Float, open_: Bool, n_rows: int) -> Float:
    """Random signs, then those of the nearest matrix of rank n without negative eigenvalues, until they stay."""
    rng = np.random.default_rng(0)
    best, best_error = whole, np.inf
    for _ in range(N_STARTS):
        signs = np.triu(rng.choice([-1.0, 1.0], whole.shape), 1)
        guess = np.where(open_, whole * (signs + signs.T), whole)
        for _ in range(N_STEPS):
            values, vectors = np.linalg.eigh(guess)
            values[: max(0, len(values) - n_rows)] = 0.0
            near = (vectors * np.maximum(values, 0.0)) @ vectors.T
            after = np.where(open_, np.abs(whole) * np.where(near >= 0, 1.0, -1.0), whole)
            if np.array_equal(after, guess):
                break
            guess = after
        error = float(((guess - near) ** 2).sum())
        if error < best_error:
            best, best_error = guess, error
        if error < 1e-6:
            break
    return best


def _as_counts(products: Float) -> Gram:
    """From columns of ±1 to columns of 0 and 1: x = (1 + s) / 2."""
    n, sums, inner = products[0, 0], products[0, 1:], products[1:, 1:]
    ones, both = (n + sums) / 2, (n + sums[:, None] + sums + inner) / 4
    names = tuple(map(str, range(len(sums))))
    return Gram(names, np.block([[np.full((1, 1), n), ones[None, :]], [ones[:, None], both]]))

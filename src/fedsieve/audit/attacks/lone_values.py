"""A value that one row alone holds is that row's name: the line of its column in the matrix of products is the row.

The same holds for the difference of two columns that disagree in one row, for their sum where one is the other's
opposite but in one row, and for labels.
"""

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.gram import Gram

EXACT = 1e-7  # relative: how near sums of squares must come


def lone_rows(gram: Gram, baselines: Float) -> Float:
    """The rows that some column has a lone value in; `baselines` (n_guesses, columns) are values all others may have.

    Lone is a column x with (Σu)² = Σu², u = x - baseline: all but one of them are 0, if they have one sign.
    """
    n, sums, products = gram.products[0, 0], gram.products[0, 1:], gram.products[1:, 1:]
    rows = []
    for base in baselines:
        total, squares = sums - n * base, np.diagonal(products) - 2 * base * sums + n * base**2
        lone = np.flatnonzero((np.abs(total**2 - squares) <= EXACT * total**2) & (np.abs(total) > EXACT))
        rows.append((products[lone] - np.outer(base[lone], sums)) / total[lone, None])
    return distinct(np.vstack(rows))


def disagreeing_rows(gram: Gram) -> Float:
    """The rows in which two whole-numbered columns differ, or are not each other's opposite, where it is one row."""
    products, places = gram.whole()
    _, once = np.unique(products[1:], axis=0, return_index=True)  # copies of a column tell nothing more
    lines, places = products[once + 1], places[once + 1]
    n, sums, inner = products[0, 0], lines[:, 0], lines[:, once + 1]
    others, totals, own = gram.products[places, 1:], gram.products[0, 1:], np.diagonal(inner)
    found = [np.empty((0, len(totals)))]
    for p in range(len(once)):
        differ = np.flatnonzero(own[p] + own - 2 * inner[p] == 1)
        found.append((others[p] - others[differ]) * (sums[p] - sums[differ])[:, None])
        squares = n - 2 * (sums[p] + sums) + own[p] + own + 2 * inner[p]  # Σ (1 - x_p - x_q)²
        opposite = np.flatnonzero(squares == 1)
        found.append((totals - others[p] - others[opposite]) * (n - sums[p] - sums[opposite])[:, None])
        if sum(map(len, found)) > 10_000:
            found = [distinct(np.vstack(found))]
    return distinct(np.vstack(found))


def distinct(rows: Float) -> Float:
    """Each row once, up to rounding."""
    return rows[np.unique(np.round(rows, 6), axis=0, return_index=True)[1]]

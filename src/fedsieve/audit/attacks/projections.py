"""A lone value in Sieve's projections: the line of its column is one row times the weights, and sparse rows follow."""

import numpy as np
from scipy.optimize import linprog

from fedsieve.arrays import Float, Int
from fedsieve.messages.projections import AskProjections, Projections


def weighted_lone_rows(request: AskProjections, reply: Projections) -> tuple[Float, Int]:
    """For each column that one row alone has a 1 in: that row's weighted sums, in raw units; and the column's place.

    The columns are 0/1 numbers with the range [0, 1], of which 1/2 was taken away.
    """
    ones = reply.sums + reply.n_rows / 2
    lone = np.flatnonzero(np.round(ones) == 1)
    # Σ_i (x_ip - 1/2)(x_i - 1/2)ᵀW, plus half of the columns' sums times W, is the sum over rows with a 1 in p
    centered = reply.products[lone] + reply.weighted / 2
    return centered + request.weights.sum(axis=0) / 2, lone


def sparse_row(weights: Float, weighted: Float) -> Float:
    """The row of numbers in [0, 1] with fewest ones in total that has these weighted sums."""
    scale = np.abs(weights).max(axis=0)
    program = linprog(np.ones(len(weights)), A_eq=(weights / scale).T, b_eq=weighted / scale, bounds=(0, 1))
    row: Float = np.round(program.x) if program.status == 0 else np.zeros(len(weights))
    return row

"""The cheapest assignment, and the first among equals, against trying all of them."""

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.rivals.assignment import first_cheapest_assignment


def by_trying(costs):
    """Of all injective maps: least cost, then the smallest columns, none (-1) after every column."""
    n_rows, n_columns = costs.shape
    padded = np.hstack([costs, np.zeros((n_rows, max(0, n_rows - n_columns)), dtype=int)])
    choices = permutations(range(padded.shape[1]), n_rows)
    best = min(choices, key=lambda c: (sum(padded[row, column] for row, column in enumerate(c)), c))
    return [column if column < n_columns else -1 for column in best]


@settings(max_examples=200)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_it_is_the_first_of_the_cheapest(n_rows, n_columns, n_values, seed):
    costs = np.random.default_rng(seed).integers(0, n_values, (n_rows, n_columns))
    assert first_cheapest_assignment(costs).tolist() == by_trying(costs)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_large_ones_use_every_column_once_at_least_cost(n_rows, n_columns, seed):
    from scipy.optimize import linear_sum_assignment

    costs = np.random.default_rng(seed).integers(0, 9, (n_rows, n_columns))
    chosen = first_cheapest_assignment(costs)
    rows = np.flatnonzero(chosen >= 0)
    assert len(rows) == len(set(chosen[rows])) == min(n_rows, n_columns)
    assert costs[rows, chosen[rows]].sum() == costs[linear_sum_assignment(costs)].sum()


def test_equal_costs_give_the_columns_in_order():
    assert first_cheapest_assignment(np.full((3, 5), 7)).tolist() == [0, 1, 2]
    assert first_cheapest_assignment(np.full((4, 2), 7)).tolist() == [0, 1, -1, -1]

"""Typing errors are told from tails: against a slow twin, and in what is made of the bulk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.measures.binning import edges_of_values
from fedsieve.measures.bulk import FAR, MOST_ROWS, in_bulk
from fedsieve.measures.column_facts import facts_of_tables
from fedsieve.measures.shift import compare
from reference.bulk_loops import in_bulk_loops

cells = st.one_of(st.just(float("nan")), st.integers(-9, 9).map(float), st.floats(-1e300, 1e300))


@given(st.lists(st.tuples(cells, cells), max_size=25))
def test_it_is_that_of_the_slow_twin(rows):
    X = np.array(rows, dtype=float).reshape(-1, 2)
    expected = [in_bulk_loops(column.tolist(), FAR) for column in X.T]
    assert_array_equal(in_bulk(X), np.array(expected, dtype=bool).reshape(2, -1).T)


def test_quartiles_of_many_rows_are_those_of_some():
    column = np.random.default_rng(0).normal(size=(20 * MOST_ROWS, 1))
    column[7] = 100.0
    found = in_bulk(column)
    assert not found[7]
    assert found.sum() == len(column) - 1


@pytest.mark.parametrize("draw", [lambda rng, n: rng.normal(37, 0.7, n), lambda rng, n: rng.lognormal(3, 0.5, n)])
def test_of_few_labeled_values_a_typing_error_names_no_edge(draw):
    rng = np.random.default_rng(1)
    for n in (8, 20, 49):
        values = draw(rng, n)
        wrong = np.append(values, values[3] * 100)[: 49 if n == 49 else None]
        assert edges_of_values(wrong).max() < 2 * values.max()
    assert_array_equal(edges_of_values(np.append(values[:30], 1e6)), edges_of_values(values[:30]))


def test_a_column_in_another_unit_is_found_though_everybody_mistypes():
    rng = np.random.default_rng(2)
    tables = {f"site-{i}": rng.normal(110, 25, (280, 1)) for i in range(6)}
    tables["site-3"] /= 18
    for table in tables.values():
        table[rng.integers(280)] *= rng.choice([10, 100])
    facts = facts_of_tables(tables, ("glucose",))
    (found,) = compare(facts).findings
    assert (found.party, found.conversion.factor) == ("site-3", 1 / 18)
    assert facts["site-0"].count == 280  # a typing error is a value

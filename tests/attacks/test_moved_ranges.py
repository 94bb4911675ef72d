"""A malicious operator over several runs, each of which is one proper story: ranges that move, edges that halve."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve.audit.attacks.moved_ranges import row_beyond_an_edge, row_by_halving
from fedsieve.audit.sites import site_in_runs
from fedsieve.methods import FMLFSMethod, SieveMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.tables import ArrayTable

N_ROWS, FEATURES, LABELS = 500, tuple("abcdef"), ("first", "second", "third")
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N_ROWS, len(FEATURES))).clip(-3.5, 3.5)
Y = (RNG.random((N_ROWS, len(LABELS))) < (0.2, 0.3, 0.4)).astype(float)
EDGES = np.tile(np.linspace(-4, 4, 33), (len(FEATURES), 1))
STEP = EDGES[0, 1] - EDGES[0, 0]
ROW = int(X[:, 0].argmax())
WITHOUT = {"library": LIBRARY, "site without min_cell": replace(SITE, min_cell=0)}
"""In one process nothing is pinned; at a site the attack makes only runs that are answered."""


def read_by_sieve(policy):
    method = SieveMethod(FEATURES, ranges="robust")
    column, row = row_beyond_an_edge(site_in_runs(ArrayTable(FEATURES, X), method, policy), method.columns, EDGES)
    assert column == 0
    return row[1:]


def read_by_fmlfs(policy):
    method = FMLFSMethod(FEATURES, labels=LABELS, n_bins=2, ranges="robust")
    ask = site_in_runs(ArrayTable(FEATURES, X, LABELS, Y), method, policy)
    _, row, labels = row_by_halving(ask, method.columns, LABELS, EDGES)
    return row[1:], labels


@pytest.mark.parametrize("policy", WITHOUT)
def test_two_ranges_of_a_column_give_the_row_beyond(policy):
    assert_allclose(read_by_sieve(WITHOUT[policy]), X[ROW, 1:], atol=1e-8)


def test_under_the_rules_of_a_site_the_difference_of_two_runs_is_no_row():
    assert np.all(np.abs(read_by_sieve(SITE) - X[ROW, 1:]) > 1e-3)


@pytest.mark.parametrize("policy", WITHOUT)
def test_five_runs_with_chosen_edges_give_a_row_to_five_bits(policy):
    values, labels = read_by_fmlfs(WITHOUT[policy])
    assert_allclose(values, X[ROW, 1:], atol=STEP)
    assert labels.tolist() == Y[ROW].astype(bool).tolist()


def test_under_the_rules_of_a_site_chosen_edges_give_no_value():
    values, _ = read_by_fmlfs(SITE)
    assert np.all(np.abs(values - X[ROW, 1:]) > STEP)

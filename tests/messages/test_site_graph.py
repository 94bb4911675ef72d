"""A site's graph: from pair sums or from the rows, in memory or in files, products are the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve.kernels import costs
from fedsieve.messages import site_graph
from fedsieve.messages.columns import Columns
from fedsieve.messages.relation import Relation
from fedsieve.protocol.parties import RunMemory
from fedsieve.tables import ArrayTable
from kernels.twins import mixed_table
from protocol.federation import example, select


@pytest.fixture
def no_room_for_sums(monkeypatch):
    monkeypatch.setattr(costs, "ALWAYS_SUMS", 0)
    monkeypatch.setattr(costs, "MOST_SUMS", 0)


def relation_of(X, kind="distance", radius=0.3):
    names = tuple(f"f{p}" for p in range(X.shape[1]))
    unit = m.Scaling(np.zeros(len(names)), np.ones(len(names)))
    table = ArrayTable(names, X)
    return Relation(Columns(names, (), "error"), unit, np.full(len(names), radius), kind), table


@pytest.mark.usefixtures("no_room_for_sums")
@pytest.mark.parametrize("parameters", [{}, {"relation": "similarity"}, {"nominal": ("f2",)}, {"spread": "mean"}])
def test_a_selection_is_the_same_where_no_site_makes_pair_sums(parameters):
    case = example(3, n_features=12)
    from_rows = select(case, wire="vectors", **parameters)
    assert_array_equal(from_rows.order, select(case, wire="statistics", **parameters).order)


@pytest.mark.usefixtures("no_room_for_sums")
def test_a_sparse_table_stays_sparse():
    X = (np.random.default_rng(0).random((20, 30)) < 0.2).astype(float)
    vector, products = np.arange(30.0), []
    for rows, kept in ((X, site_graph.ROWS), (sparse.csr_array(X), site_graph.PLACES)):
        memory, (relation, table) = RunMemory(), relation_of(rows)
        site_graph.keep_graph(memory, relation, table)
        assert (memory.recall(site_graph.ROWS) is None) == (kept != site_graph.ROWS)
        products.append(site_graph.graph_product(memory, vector))
    assert_allclose(*products, rtol=1e-12)


def test_a_run_that_begins_anew_forgets_the_graph_before(monkeypatch):
    rng, memory = np.random.default_rng(1), RunMemory()
    wide, narrow = relation_of(rng.random((9, 7))), relation_of(rng.random((9, 4)))
    monkeypatch.setattr(costs, "ALWAYS_SUMS", 0)
    for relation, table in (wide, narrow):
        monkeypatch.setattr(costs, "MOST_SUMS", 0 if table is narrow[1] else 1 << 29)
        site_graph.keep_graph(memory, relation, table)
    from_rows = site_graph.graph_product(memory, np.ones(4))
    monkeypatch.setattr(costs, "MOST_SUMS", 1 << 29)
    site_graph.keep_graph(memory, *narrow)
    assert_allclose(from_rows, site_graph.graph_product(memory, np.ones(4)), rtol=1e-4)


@pytest.mark.usefixtures("no_room_for_sums")
def test_other_rows_or_another_relation_are_another_graph():
    X = mixed_table(np.random.default_rng(0), 10, 5)
    changed = X.copy()
    changed[3, 0] += 0.1
    digests = set()
    graphs = (relation_of(X), relation_of(X, radius=0.2), relation_of(X, "similarity"), relation_of(changed))
    for relation, table in graphs:
        memory = RunMemory()
        assert site_graph.graph_digest(memory) == b""
        site_graph.keep_graph(memory, relation, table)
        digests.add(site_graph.graph_digest(memory))
    assert len(digests) == 4


@given(st.integers(2, 400), st.integers(1, 40_000), st.floats(0, 1))
def test_pair_sums_are_never_made_beyond_their_room(n_rows, n_features, share):
    shape = costs.Shape(n_rows, n_features, 10_000, int(share * n_features))
    assert costs.from_sums(shape).n_bytes >= 8 * n_features**2
    assert costs.from_rows(shape).n_bytes < 100 * n_features


def test_the_cheaper_way_is_taken():
    rng = np.random.default_rng(2)
    assert site_graph.sums_pay(rng.random((20, 300)), relation_of(rng.random((20, 300)))[0])
    wide, table = relation_of(rng.random((20, 4000)))
    assert not site_graph.sums_pay(table.whole(wide.columns.features), wide)
    few, table = relation_of(rng.integers(0, 2, (2000, 2500)).astype(float))  # counted, not compared
    assert site_graph.sums_pay(table.whole(few.columns.features), few)


@pytest.mark.usefixtures("no_room_for_sums")
def test_honest_products_of_nearly_equal_features_are_no_lie():
    case = example(5, n_features=8)
    for X in (*case.clients.values(), case.X):
        X[:] = X[:, :1] + np.random.default_rng(0).normal(0, 1e-4, X.shape)
    assert sorted(select(case, wire="vectors").order) == list(range(8))

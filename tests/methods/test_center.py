"""Columns compared within sites: what shifts a whole site plays no part, and what adds up still adds up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from methods.test_sieve import assert_same, both
from protocol.federation import select_by_edges
from sieve_cases import SieveCase, sieve_cases, sieve_example
from strategies import with_gaps

NUMBERS = ("number", "few", "copy", "mirror", "constant")
WITHIN = {"center": "sites", "n_bootstraps": 0}


def declared(case, room):
    """Ranges that hold all values, moved or not."""
    low, high = np.nanmin(case.all_rows, axis=0) - room, np.nanmax(case.all_rows, axis=0) + room
    return dict(zip(case.features, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def dealt(case):
    return {f"c{i}": rows.copy() for i, rows in enumerate(np.array_split(case.others, 3))}


@both
@pytest.mark.parametrize("missing", ["mean", "indicator"])
@settings(max_examples=5)
@given(data=st.data())
def test_a_constant_that_is_added_to_a_column_at_one_site_plays_no_part(parameters, missing, data):
    case = data.draw(sieve_cases(kinds=NUMBERS, min_others=12))
    case = SieveCase(case.X, case.Y, with_gaps(case.others, 3), (), case.groups)
    tables, place = dealt(case), data.draw(st.integers(0, len(case.features) - 1))
    shift = data.draw(st.sampled_from([-2.0, 0.1, 5.0]))
    how = {**parameters, **WITHIN, "missing": missing, "ranges": declared(case, 5.0)}
    before = case.select(tables, **how)
    tables["c1"][:, place] += shift
    after = case.select(tables, **how)
    assert_allclose(after.scores, before.scores, rtol=0, atol=1e-9)
    assert_allclose(after.relevance, before.relevance, rtol=0, atol=1e-9)
    assert_array_equal(after.order, before.order)


def test_nor_does_it_in_secure_sums_which_find_what_a_plain_run_finds():
    case = sieve_example().with_columns(np.array([0, 1, 2, 4]))
    case = SieveCase(case.X, case.Y, with_gaps(case.others, 3))
    how = {**WITHIN, "missing": "indicator", "ranges": declared(case, 5.0)}
    plain = case.select(dealt(case), **how)
    tables = dealt(case)
    tables["c1"][:, 0] += 3.0
    assert_allclose(case.select(tables, secure=True, **how).relevance, plain.relevance, rtol=0, atol=1e-9)
    with_means = {**how, "center": "federation"}
    moved, still = case.select(tables, **with_means), case.select(dealt(case), **with_means)
    assert np.abs(moved.relevance - still.relevance).max() > 1e-3


def shifted_sites(shift):
    """Labels follow the first column; the second is noise but for a shift of each site, which the third shares."""
    rng = np.random.default_rng(3)
    rows = {f"c{i}": rng.normal(size=(60, 4)) for i in range(4)}
    for i, table in enumerate(rows.values()):
        table[:, 1:3] += shift * i
    X = rng.normal(size=(40, 4))
    return rows, Labeled(X, np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 3] > 0]).astype(float))


def redundancy(center, shift):
    rows, labeled = shifted_sites(shift)
    case = SieveCase(labeled.X, labeled.Y, np.vstack(list(rows.values())))
    ranges = dict.fromkeys(case.features, (-10.0, 40.0))
    return case.select(rows, center=center, ranges=ranges, n_features_to_select=4).redundancy


def test_columns_that_only_share_a_shift_of_sites_are_not_alike_within_them():
    assert redundancy("federation", 8.0)[1] > 0.9
    assert redundancy("sites", 8.0)[1] == pytest.approx(redundancy("sites", 0.0)[1], abs=1e-9)
    assert redundancy("sites", 0.0)[1] < 0.3


def test_a_reply_is_the_covariance_about_the_site_s_own_mean_and_tells_no_mean():
    rows = np.random.default_rng(0).normal(size=(50, 3)) + 4
    scaling = m.Scaling(np.full(3, -20.0), np.full(3, 20.0), "declared")
    ask = m.AskCovariances(m.Columns(("a", "b", "c"), (), "mean"), scaling, center="sites")
    reply = ask.answer(ArrayTable(("a", "b", "c"), rows))
    assert_array_equal(reply.sums, 0)
    assert_allclose(reply.deviations() / 50 * 40**2, np.cov(rows, rowvar=False, bias=True), rtol=1e-12)
    moved = ask.answer(ArrayTable(("a", "b", "c"), rows + np.array([3.0, -1.0, 0.5])))
    assert_allclose(moved.upper, reply.upper, rtol=0, atol=1e-12)
    both = reply + moved
    assert_allclose(both.deviations(), 2 * reply.deviations(), rtol=0, atol=1e-12)


def test_each_site_behind_an_edge_server_has_a_mean_of_its_own():
    case = sieve_example()
    tables = case.sites({f"c{i}": rows for i, rows in enumerate(np.array_split(case.others, 4))})
    method = case.plan(center="sites", max_sites_per_client=2)
    edges = {"e0": {name: tables[name] for name in ("c0", "c1")}, "e1": {name: tables[name] for name in ("c2", "c3")}}
    assert_same(select_by_edges(method, case.rows, edges)[0], in_process.select(method, case.rows, tables).selection)


@pytest.mark.parametrize("kind", ["Covariances", "Projections"])
def test_sums_and_spreads_that_no_rows_have_about_their_own_mean_are_refused(kind):
    columns, scaling = m.Columns(("a", "b"), ("b",), "mean"), m.Scaling(np.zeros(2), np.ones(2), "declared")
    rows = np.random.default_rng(1).integers(0, 2, (20, 2)).astype(float)
    ask = m.AskCovariances(columns, scaling, center="sites")
    if kind == "Projections":
        ask = m.AskProjections(columns, scaling, np.ones((3, 1)), center="sites")
    honest = ask.answer(ArrayTable(("a", "b"), rows))
    assert ask.why_refused(honest, m.Known()) is None
    wrong = type(honest)(**{**vars(honest), "sums": np.array([1.0, 0, 0])})
    assert "sent sums of columns that were to be taken from its own mean" in ask.why_refused(wrong, m.Known())
    field, diagonal = ("upper", [0, 3, 5]) if kind == "Covariances" else ("squares", [0, 1, 2])
    wide = getattr(honest, field).copy()
    wide[diagonal] = 5.1
    wrong = type(honest)(**{**vars(honest), field: wide})
    assert "sent a spread that no values in [0, 1] have" in ask.why_refused(wrong, m.Known())

"""Ranges that no site can stretch: the same for every partition, in every method, and one odd cell moves nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import SSFMLFS, Sieve
from fedsieve.errors import DataError, ProtocolError
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.selectors.federation import read_federation
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from sieve_cases import partitions, sieve_cases

LABELS = ("y0", "y1")


@st.composite
def cases(draw):
    """Labeled rows, the rows of all sites with labels, and two ways to deal them out."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_labeled, n_rows = 14, draw(st.integers(12, 50))
    X = rng.normal(size=(n_labeled + n_rows, 5)) * rng.choice([0.01, 1, 1e4], 5)
    X[:, 1] = rng.random(len(X)) < 0.2
    X[:, 2] = rng.integers(0, 4, len(X))
    outliers = draw(st.integers(0, 3))
    X[-outliers or len(X) :, 3] *= 1e6
    Y = (X[:, [0, 3]] + rng.normal(size=(len(X), 2)) > 0).astype(float)
    rows = np.hstack([X, Y])[n_labeled:]
    return Labeled(X[:n_labeled], Y[:n_labeled]), rows, draw(partitions(rows))


FEATURES = tuple("abcde")
DECLARED = {"a": (-1.0, 2.0), "b": (0.0, 1.0), "c": (0.0, 2.5), "d": (-1e3, 1e3), "e": (-0.1, 0.0)}
METHODS = {
    "Sieve": (SieveMethod, {"n_trees": 4, "n_bootstraps": 1}),
    "Sieve, wide": (SieveMethod, {"n_trees": 4, "n_bootstraps": 1, "screen": 2, "n_features_to_select": 1}),
    "SSFMLFS, statistics": (SSFMLFSMethod, {"wire": "statistics"}),
    "SSFMLFS, vectors": (SSFMLFSMethod, {"wire": "vectors"}),
    "FMLFS": (FMLFSMethod, {"labels": LABELS}),
    "FedCMFS": (FedCMFSMethod, {"labels": LABELS, "combine": "pooled", "alpha": 0.5}),
}
ADD_UP = ("Sieve", "Sieve, wide", "FedCMFS")  # what they select follows from sums over all rows alone


def run(name, rows, tables, ranges):
    """The selection, and every scaling that sites were sent."""
    kind, parameters = METHODS[name]
    method = kind(FEATURES, ranges=ranges, min_clients=1, **parameters)
    labels = (LABELS,) if method.sites_hold_labels else ()
    sites = {
        site: ArrayTable(FEATURES, table[:, :5], *labels, *([table[:, 5:]] if labels else []))
        for site, table in tables.items()
    }
    scalings = []

    def watch(question):
        relation = getattr(question.request, "relation", None)
        if scaling := getattr(relation or question.request, "scaling", None):
            scalings.append(scaling)

    return in_process.select(method, rows, sites, watch).selection, scalings


@settings(max_examples=15)
@given(cases(), st.sampled_from(ADD_UP), st.sampled_from(["robust", "declared"]))
def test_what_adds_up_is_what_one_table_of_all_rows_gives(case, name, ranges):
    rows, table, parts = case
    how = DECLARED if ranges == "declared" else ranges
    federated, _ = run(name, rows, parts, how)
    pooled, _ = run(name, rows, {"pool": table}, how)
    assert_allclose(federated.scores, pooled.scores, rtol=0, atol=1e-9)
    assert_allclose(federated.relevance, pooled.relevance, rtol=0, atol=1e-9)


@settings(max_examples=15)
@given(cases(), st.sampled_from(sorted(METHODS)))
def test_robust_ranges_are_the_same_to_the_last_bit_for_every_partition(case, name):
    rows, table, parts = case
    _, federated = run(name, rows, parts, "robust")
    _, pooled = run(name, rows, {"pool": table}, "robust")
    assert len(federated) >= 1
    one, other = federated[0], pooled[0]
    assert one.kind == other.kind == "robust"
    assert_array_equal(one.low, other.low)
    assert_array_equal(one.high, other.high)
    assert_array_equal(one.counts, other.counts)
    assert one.counts.sum() == 5 * (len(table) + len(rows.X))  # the server's rows count like a site's


@settings(max_examples=10)
@given(cases(), st.sampled_from(["robust", "declared"]))
def test_the_radius_of_a_relation_is_that_of_all_rows_for_every_partition(case, ranges):
    """Relations are within sites, so that SSFMLFS's graph is not that of one table; its radius is."""
    rows, table, parts = case
    how = DECLARED if ranges == "declared" else ranges
    for name in ("SSFMLFS, statistics", "SSFMLFS, vectors"):
        federated, pooled = run(name, rows, parts, how)[0], run(name, rows, {"pool": table}, how)[0]
        assert_allclose(federated.radius, pooled.radius, rtol=0, atol=1e-9)


@settings(max_examples=10)
@given(cases())
def test_both_wire_forms_of_ssfmlfs_agree_under_robust_ranges(case):
    rows, _, parts = case
    statistics, vectors = (run(name, rows, parts, "robust")[0] for name in ("SSFMLFS, statistics", "SSFMLFS, vectors"))
    assert_allclose(statistics.scores, vectors.scores, rtol=0, atol=1e-9)


@settings(max_examples=15)
@given(sieve_cases(), st.data())
def test_sieve_with_codes_and_groups_is_that_of_one_table_too(case, data):
    """The codes of all rows are declared: those of the labeled rows may be fewer."""
    ends = zip(case.features, case.all_rows.min(axis=0), case.all_rows.max(axis=0), strict=True)
    bounds = {name: (low, high) for name, low, high in ends if name in case.nominal and low < high}
    how = {"ranges": "robust", "bounds": bounds}
    federated, pooled = case.select(data.draw(partitions(case.others)), **how), case.pooled(**how)
    assert_allclose(federated.scores, pooled.scores, rtol=0, atol=1e-9)


def ten_sites(seed=0, n_rows=60):
    """Ten sites and labeled rows of six features, of which two tell of labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10 * n_rows + 80, 6)) + 3
    X[:, 4] = rng.integers(0, 2, len(X))
    Y = np.column_stack([X[:, 0] > 3, X[:, 2] + 0.5 * rng.normal(size=len(X)) > 3, rng.random(len(X)) < 0.5])
    sites = {f"site-{place}": part for place, part in enumerate(np.split(X[80:], 10))}
    return X[:80], Y[:80].astype(int), sites


@pytest.mark.parametrize("feature", [0, 5, *(pytest.param(feature, marks=pytest.mark.full) for feature in (1, 2, 3))])
@pytest.mark.parametrize("wire", ["statistics", "vectors"])
def test_one_honest_cell_moves_the_order_of_ssfmlfs_with_exact_ranges_only(wire, feature):
    """9,999, as some write what they do not know, in one of ten sites."""
    X, Y, sites = ten_sites()

    def orders(ranges):
        selector = SSFMLFS(ranges=ranges, wire=wire)
        before = selector.fit(X, Y, clients=sites).order_.copy()
        odd = {name: table.copy() for name, table in sites.items()}
        odd["site-3"][17, feature] = 9999.0
        return before, selector.fit(X, Y, clients=odd).order_

    before, after = orders("robust")
    assert_array_equal(after, before)
    before, after = orders("federated")
    assert not np.array_equal(after, before)


@pytest.mark.parametrize("feature", [0, 2])
def test_two_cells_of_one_liar_move_the_order_of_sieve_with_exact_ranges_only(feature):
    X, Y, sites = ten_sites()

    def orders(ranges):
        selector = Sieve(ranges=ranges, n_trees=30, n_bootstraps=0)
        before = selector.fit(X, Y, clients=sites).order_.copy()
        odd = {name: table.copy() for name, table in sites.items()}
        odd["site-3"][[17, 18], feature] = 1e300, -1e300
        return before, selector.fit(X, Y, clients=odd).order_

    before, after = orders("robust")
    assert_array_equal(after, before)
    before, after = orders("federated")
    assert list(before).index(feature) < list(after).index(feature)


def coded_sites(n_rare):
    """Three sites of 1,000 rows with codes 1 to 3, of which so many rows of one have 0; labeled rows know 0 to 4."""
    rng = np.random.default_rng(0)

    def rows(n):
        return np.column_stack([rng.normal(size=(n, 2)), rng.integers(1, 4, n)])

    X, Y = rows(60), rng.integers(0, 2, (60, 2))
    X[:4, 2] = 0, 0, 4, 4
    sites = [rows(1000) for _ in range(3)]
    sites[1][:n_rare, 2] = 0
    return X, Y, sites


@pytest.mark.parametrize("n_rare", [0, 1, 3, 200])
def test_rare_codes_are_no_reason_to_fail(n_rare):
    """Codes are never clipped, however few rows have the outermost ones."""
    X, Y, sites = coded_sites(n_rare)
    robust = Sieve(nominal=[2], ranges="robust", n_trees=5, n_bootstraps=0).fit(X, Y, clients=sites)
    assert robust.dropped_ == {}


def test_a_site_with_codes_that_the_labeled_rows_do_not_have_is_named():
    X, Y, sites = coded_sites(0)
    sites[2][5, 2] = 9
    method = SieveMethod(("x0", "x1", "x2"), nominal=("x2",), n_trees=5, n_bootstraps=0)
    tables = {f"client-{i}": ArrayTable(method.features, table) for i, table in enumerate(sites)}
    with pytest.raises(
        ProtocolError, match=r"^client 'client-2': has codes in 'x2' beyond those of the labeled rows\. Declare"
    ) as refused:
        in_process.select(method, Labeled(X, Y.astype(float)), tables)
    assert "bounds of the method, 'federation init --bounds FILE' of an agreement." in str(refused.value)
    bounded = replace(method, bounds={"x2": (0, 9)})
    assert in_process.select(bounded, Labeled(X, Y.astype(float)), tables).selection.dropped == {}


def test_in_one_place_all_codes_are_known_as_with_exact_ranges():
    X, Y, sites = coded_sites(0)
    sites[2][5:40, 2] = 9
    robust, exact = (
        Sieve(nominal=[2], ranges=ranges, n_trees=5, n_bootstraps=0).fit(X, Y, clients=sites)
        for ranges in ("robust", "federated")
    )
    assert_array_equal(robust.order_, exact.order_)
    sites[1][7, 2] = 1.5
    with pytest.raises(ProtocolError, match=r"^client 'client-1': nominal column 'x2' has a code that is no whole"):
        robust.fit(X, Y, clients=sites)


def test_a_column_of_one_value_in_the_labeled_rows_still_counts_as_it_varies_elsewhere():
    """Temperatures that are all 37 in ten labeled rows."""
    rng = np.random.default_rng(1)
    X, Y = np.column_stack([np.full(10, 37.0), rng.normal(size=10)]), rng.integers(0, 2, (10, 2))
    sites = [np.column_stack([rng.normal(37, 0.6, 200), rng.normal(size=200)]) for _ in range(3)]
    method = SieveMethod(("t", "x"))
    asked = []
    tables = {f"{i}": ArrayTable(method.features, table) for i, table in enumerate(sites)}
    in_process.select(method, Labeled(X, Y.astype(float)), tables, asked.append)
    scaling = asked[-1].request.scaling
    every = np.concatenate([table[:, 0] for table in sites])
    assert scaling.low[0] <= np.quantile(every, 0.005)
    assert scaling.high[0] >= np.quantile(every, 0.995)
    assert scaling.high[0] - scaling.low[0] < 37


@pytest.mark.parametrize(
    "selector", [Sieve(3, n_trees=5, n_bootstraps=0), SSFMLFS(3, ranges="robust", missing="unrelated")]
)
def test_a_column_that_no_labeled_row_has_is_scaled_by_the_others(selector):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(40, 3)), rng.integers(0, 2, (40, 2))
    X[:, 1] = np.nan
    sites = [rng.normal([0, 100, 0], [1, 8, 1], (200, 3)) for _ in range(3)]
    sites[0][5, 1] = 1e6
    parameters = selector._parameters(read_federation(selector, X, Y, sites, None))
    low, high = parameters["bounds"]["x1"]
    assert 60 < low < 90
    assert 110 < high < 140
    assert np.isfinite(selector.fit(X, Y, clients=sites).scores_).all()


def test_codes_that_are_no_whole_numbers_are_named_before_anything_is_asked():
    X, Y, sites = coded_sites(0)
    X[0, 2] = X[:, 2].max() + 0.5
    with pytest.raises(DataError, match=r"^Sieve: nominal column 'x2' has a code that is no whole number"):
        Sieve(nominal=[2], ranges="robust", n_trees=5).fit(X, Y, clients=sites)


def test_bins_of_earlier_runs_are_kept_to():
    """A server whose labeled rows changed since asks in the bins that sites know."""
    X, Y, sites = ten_sites()
    method = SSFMLFSMethod(tuple("abcdef"), ranges="robust")
    tables = {name: ArrayTable(method.features, table) for name, table in sites.items()}
    asked = []
    in_process.select(method, Labeled(X, Y.astype(float)), tables, asked.append)
    first = asked[0].request.bins
    asked.clear()
    in_process.select(method, Labeled(X[:40] + 1, Y[:40].astype(float), bins=first), tables, asked.append)
    assert_array_equal(asked[0].request.bins.edges, first.edges)

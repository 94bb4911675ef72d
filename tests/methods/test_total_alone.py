"""A cohort of which only the sum over all sites is known: the same selection, and nothing about single sites."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.protocol.parties import RunMemory
from fedsieve.transport import in_process
from protocol.federation import example, labeled, sites
from protocol.supervised import SupervisedCase, supervised_example
from sieve_cases import partitions, sieve_cases, sieve_example, thirds
from sites_with_labels import sites_with_labels
from strategies import federations

UNSEEN = "only the sum over the sites is known"


class OnlyTotals:
    """Sums made where nobody looks; it keeps what it was asked, and who wanted to look."""

    unseen = UNSEEN
    n_rows = None
    compares_all = False

    def __init__(self, tables):
        self._tables = [(tables[name], RunMemory()) for name in sorted(tables)]
        self.asked, self.observers = [], []

    def observe(self, observer):
        self.observers.append(observer)

    def total(self, request, own=None):
        yield from ()
        self.asked.append(type(request).__name__)
        replies = [request.answer_in_run(table, memory) for table, memory in self._tables]
        return reduce(add, replies if own is None else [own, *replies])

    def each(self, request, take=None):
        raise AssertionError(f"{type(request).__name__} of single sites, {take}")


def run_on_totals(method, rows, tables):
    """The selection; no question is left for a runtime to carry."""
    cohort = OnlyTotals(tables)
    steps = method.run(rows, cohort)
    with pytest.raises(StopIteration) as finished:
        next(steps)
    return finished.value.value, cohort


def both(method, rows, tables):
    """By totals alone, and with all replies seen in one process; and the cohort of the former."""
    alone, cohort = run_on_totals(method, rows, tables)
    seen = in_process.select(method, rows, tables).selection
    assert alone.unseen == UNSEEN
    assert alone.n_rows is None
    assert seen.unseen == ""
    assert sum(seen.n_rows.values()) == sum(table.n_rows for table in tables.values())
    return alone, seen, cohort


def assert_same_numbers(alone, seen, atol):
    """Scores and order, and whatever else is said of features."""
    assert_array_equal(alone.order, seen.order)
    assert_allclose(alone.scores, seen.scores, rtol=0, atol=atol)
    assert alone.n_selected == seen.n_selected
    for name, values in seen.columns().items():
        assert_allclose(alone.columns()[name], values, rtol=0, atol=atol, err_msg=name)
    for name, other in seen.links().items():
        assert_array_equal(alone.links()[name], other, err_msg=name)


SIEVE = {
    "narrow": ({}, ["AskRanges", "AskCovariances"]),
    "wide": ({"screen": 2, "n_features_to_select": 1}, ["AskRanges", "AskProjections", "AskCovariances"]),
}


@pytest.mark.parametrize(("parameters", "asked"), SIEVE.values(), ids=SIEVE)
@settings(max_examples=8)
@given(data=st.data())
def test_sieve(parameters, asked, data):
    case = data.draw(sieve_cases())
    tables = case.sites(data.draw(partitions(case.others)))
    alone, seen, cohort = both(case.plan(**parameters), case.rows, tables)
    assert_same_numbers(alone, seen, 1e-12)
    assert cohort.asked == asked
    assert len(cohort.observers) == 1  # it would look at codes, where it could


def test_sieve_with_a_number_that_the_labeled_rows_choose():
    case = sieve_example()
    alone, seen, _ = both(case.plan(n_features_to_select="auto"), case.rows, case.sites(thirds(case)))
    assert_same_numbers(alone, seen, 1e-12)
    assert alone.facts() == seen.facts()
    assert alone.choice.k == seen.choice.k


STATISTICS, VECTORS = {"AskRangesAndMoments", "AskPairSums"}, {"AskRangesAndMoments", "AskProducts"}
SSFMLFS = {
    "statistics": ({"wire": "statistics"}, STATISTICS),
    "vectors": ({"wire": "vectors"}, VECTORS),
    "vectors, and the distances of the selected": (
        {"wire": "vectors", "selected_distance": True},
        VECTORS | {"AskPairSums"},
    ),
    "ranges of each site": ({"wire": "statistics", "ranges": "local"}, {"AskMoments", "AskPairSums"}),
}


def assert_same_graph(alone, seen):
    """Exactly; what counts single sites is not known."""
    assert_same_numbers(alone, seen, 0)
    assert (alone.n_iter, alone.residual) == (seen.n_iter, seen.residual)
    for name in ("distance", "selected_distance"):
        if getattr(seen, name) is None:
            assert getattr(alone, name) is None
        else:
            assert_array_equal(getattr(alone, name), getattr(seen, name))
    assert alone.n_clipped is None
    assert seen.n_clipped is not None


@pytest.mark.parametrize(("parameters", "asked"), SSFMLFS.values(), ids=SSFMLFS)
@settings(max_examples=8)
@given(case=federations())
def test_ssfmlfs(parameters, asked, case):
    method = SSFMLFSMethod(case.features, tol=1e-6, **parameters)
    alone, seen, cohort = both(method, labeled(case), sites(case))
    assert_same_graph(alone, seen)
    assert set(cohort.asked) <= asked


@pytest.mark.parametrize(("parameters", "asked"), SSFMLFS.values(), ids=SSFMLFS)
def test_ssfmlfs_asks_for_all_its_sums(parameters, asked):
    case = example()
    alone, seen, cohort = both(SSFMLFSMethod(case.features, **parameters), labeled(case), sites(case))
    assert_same_graph(alone, seen)
    assert set(cohort.asked) == asked


def test_how_many_values_were_clipped_is_told_per_site_or_not_at_all():
    case = example()
    method = SSFMLFSMethod(case.features, ranges=dict.fromkeys(case.features, (0.0, 1.0)))
    alone, seen, _ = both(method, labeled(case), sites(case))
    assert min(seen.n_clipped.values()) > 0
    assert set(seen.n_clipped) == {"server", *case.clients}
    assert alone.n_clipped is None
    assert alone.facts()["n_clipped"] is None


@settings(max_examples=15)
@given(sites_with_labels())
def test_fedcmfs_of_pooled_statistics(tables):
    case = SupervisedCase(tables)
    alone, seen, cohort = both(case.plan("FedCMFS, pooled"), case.rows, case.sites)
    assert_same_numbers(alone, seen, 1e-12)
    for step in ("found", "recovered", "kept"):
        assert_array_equal(getattr(alone, step), getattr(seen, step), err_msg=step)
    assert cohort.asked == ["AskRanges", "AskCovariances"]


NEED_EACH = {
    "SSFMLFS, matrices": (SSFMLFSMethod, {"wire": "matrices"}, "AskRelations"),
    "SSFMLFS, mean of deviations": (SSFMLFSMethod, {"spread": "mean"}, "AskRangesAndMoments"),
}


@pytest.mark.parametrize(("kind", "parameters", "wanted"), NEED_EACH.values(), ids=NEED_EACH)
def test_what_needs_each_site_asks_for_each(kind, parameters, wanted):
    case = example()
    with pytest.raises(AssertionError, match=f"^{wanted} of single sites"):
        run_on_totals(kind(case.features, **parameters), labeled(case), sites(case))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("FMLFS", "AskInformation"),
        ("FedCMFS, statistics", "AskCovariances"),
        ("FedCMFS, tests", "AskPartialCorrelations"),
    ],
)
def test_what_needs_each_labeled_site_asks_for_each(name, wanted):
    case = supervised_example()
    with pytest.raises(AssertionError, match=f"^{wanted} of single sites"):
        run_on_totals(case.plan(name), case.rows, case.sites)


@pytest.mark.parametrize("method", [SieveMethod, FedCMFSMethod, FMLFSMethod], ids=lambda method: method.name)
def test_where_nobody_else_has_rows_the_server_s_own_are_the_sum(method):
    """One place without further rows; one site whose rows are the server's again says the same."""
    rng = np.random.default_rng(2)
    X, Y = rng.random((30, 4)), rng.integers(0, 2, (30, 2)).astype(float)
    case = SupervisedCase([(X, Y), (X, Y)])
    labels = {"labels": case.labels} if method.sites_hold_labels else {}
    pooled = {"combine": "pooled", "alpha": 1.0} if method is FedCMFSMethod else {}
    nobody = in_process.select(method(case.features, min_clients=0, **labels, **pooled), case.rows, {}).selection
    again = in_process.select(method(case.features, min_clients=1, **labels, **pooled), case.rows, case.sites).selection
    assert nobody.n_rows == {}
    assert_array_equal(nobody.order, again.order)
    assert_allclose(nobody.relevance, again.relevance, rtol=0, atol=1e-12)
